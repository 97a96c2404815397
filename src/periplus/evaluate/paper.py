"""The figures of paper A (Gao, Lee and Miao 2006), to stand beside ours. Their crawl: 12.8 million pages a strategy."""

__all__ = ["PAPER"]

PAPER: dict[str, dict[str, float]] = {
    "hash": {
        "geo_coverage": 0.0086, "entity_uniqueness": 0.35, "geo_centrality": 0.0222, "overlap": 0.0,
        "diversity": 0.0814, "links_assigned_away_per_page": 13.89,
    },
    "url": {
        "geo_coverage": 0.0725, "geo_focus": 0.911, "entity_uniqueness": 0.18, "geo_centrality": 0.1754,
        "overlap": 0.0, "diversity": 0.0405, "links_assigned_away_per_page": 25.72, "locality.linked": 0.41559,
        "locality.unlinked": 0.02582,
    },
    "anchor": {
        "geo_coverage": 0.0788, "geo_focus": 0.842, "entity_uniqueness": 0.16, "geo_centrality": 0.1519,
        "overlap": 0.08461, "diversity": 0.0674, "links_assigned_away_per_page": 61.87,
    },
    "content": {
        "geo_coverage": 0.0489, "geo_focus": 0.752, "entity_uniqueness": 0.19, "geo_centrality": 0.0994,
        "overlap": 0.173239, "diversity": 0.0688, "links_assigned_away_per_page": 46.69, "locality.linked": 0.26325,
        "locality.unlinked": 0.01157,
    },
    "classifier": {
        "geo_coverage": 0.0109, "geo_focus": 0.221, "entity_uniqueness": 0.26, "geo_centrality": 0.0273,
        "overlap": 0.34599, "diversity": 0.0564, "links_assigned_away_per_page": 58.38, "locality.linked": 0.044495,
        "locality.unlinked": 0.008923,
    },
    "ip": {
        "geo_coverage": 0.0171, "geo_focus": 0.518, "entity_uniqueness": 0.27, "geo_centrality": 0.038,
        "overlap": 0.0, "diversity": 0.3887, "links_assigned_away_per_page": 0.15,
    },
}  # fmt: skip
"""Strategy -> measure -> the paper's value, as a share where the paper has per cent."""
