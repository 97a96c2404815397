"""A hundred ways in which crawled text might try to run in a browser. Each sets `window.__attacked` if it does."""

__all__ = ["attacks"]

_CODE = "window.__attacked=1"

_HANDLERS = [
    "onerror", "onload", "onclick", "onmouseover", "onfocus", "onanimationstart", "ontoggle", "onpointerenter",
    "onbegin", "onscroll",
]  # fmt: skip

_SHAPES = [
    "<img src=x {handler}={code}>",
    '<img src="x" {handler}="{code}">',
    "<svg {handler}={code}>",
    "<svg><animate {handler}={code} attributeName=x dur=1s>",
    "<body {handler}={code}>",
    "<details open {handler}={code}>",
    "<input autofocus {handler}={code}>",
    "\"><b {handler}='{code}' tabindex=1 style=animation-name:sail>x</b>",
]

_OTHERS = [
    "<script>{code}</script>",
    "<SCRIPT SRC=data:text/javascript,{code}></SCRIPT>",
    "</title><script>{code}</script>",
    "</script><script>{code}</script>",
    "<scr<script>ipt>{code}</scr</script>ipt>",
    "<iframe srcdoc='<script>parent.{code}</script>'></iframe>",
    "<iframe src=javascript:{code}></iframe>",
    "<object data=javascript:{code}></object>",
    "<embed src=javascript:{code}>",
    "<a href=javascript:{code}>x</a>",
    "javascript:{code}",
    "data:text/html,<script>{code}</script>",
    "<form action=javascript:{code}><button>x</button></form>",
    "<math><mi xlink:href=javascript:{code}>x</mi></math>",
    "<link rel=stylesheet href=//attacker.example/x.css>",
    "<meta http-equiv=refresh content='0;url=javascript:{code}'>",
    "<base href=//attacker.example/>",
    "{{{{constructor.constructor('{code}')()}}}}",
    "${{{code}}}",
    "&lt;script&gt;{code}&lt;/script&gt;",
]


def attacks() -> list[str]:
    """All of them."""
    shaped = [shape.format(handler=handler, code=_CODE) for shape in _SHAPES for handler in _HANDLERS]
    return [*shaped, *(other.format(code=_CODE) for other in _OTHERS)]
