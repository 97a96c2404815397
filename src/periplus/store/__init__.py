"""Room `store`: what a crawl leaves on disk: each node's database, its WARC archive, and exports."""
