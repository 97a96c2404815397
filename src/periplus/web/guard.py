"""What stands before every answer: the Host check, the token, and the headers that keep a browser safe.

Host: a page of another site can make a name of its own lead to 127.0.0.1 (DNS rebinding); the browser then sends
that name as Host, and we answer 421 to it. Token: needed as soon as the server can be reached from elsewhere.
"""

import hmac
import ipaddress
import math
from collections.abc import Callable, Mapping
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from periplus.web.limits import RateLimit

__all__ = ["SECURITY_HEADERS", "Guard", "error_response", "is_loopback"]

SECURITY_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}

COOKIE = "periplus_token"
READING = frozenset({"GET", "HEAD"})


def error_response(status: int, text: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The one shape of every error."""
    return JSONResponse({"ok": False, "error": text, "status": status}, status, headers)


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine only."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Guard:
    """ASGI middleware: refuses what is not for us, and adds the security headers to everything else."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: frozenset[str],
        token: str | None,
        rate: float = 0.0,
        origins: frozenset[str] = frozenset(),
        methods: Callable[[str], frozenset[str]] = lambda _: READING,
        images: str = "",
    ) -> None:
        """`hosts`: names that the Host header may carry, without port; empty allows any (a token is needed then).

        `rate`: requests a second to /api that one visitor may make; 0: any number. `origins`: sites whose pages may
        ask from a browser (CORS); they may read, never write. `methods`: those that an address knows. `images`:
        an origin that pictures of the map may come from.
        """
        self._app = app
        self._hosts = hosts
        self._token = token
        self._limit = RateLimit(rate)
        self._origins = origins
        self._methods = methods
        policy = SECURITY_HEADERS["content-security-policy"]
        if images:
            policy = policy.replace("img-src 'self'", f"img-src 'self' {images}")
        self._headers = SECURITY_HEADERS | {"content-security-policy": policy}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check, then pass on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in self._headers.items():
                    headers[name] = value
                self._allow_origin(scope, headers)
            await send(message)

        refusal = self._refusal(scope)
        await (refusal or self._app)(scope, receive, send_with_headers)

    def _allow_origin(self, scope: Scope, headers: MutableHeaders) -> None:
        """Pages of the allowed sites may read the answer; of all others the browser keeps it."""
        if not self._origins:
            return
        headers.add_vary_header("origin")
        origin = Headers(scope=scope).get("origin", "")
        if origin in self._origins:
            headers["access-control-allow-origin"] = origin
            headers["access-control-allow-headers"] = "authorization, if-none-match"
            headers["access-control-allow-methods"] = "GET, HEAD"
            headers["access-control-expose-headers"] = "etag, retry-after"
            headers["cross-origin-resource-policy"] = "cross-origin"

    def _refusal(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        host = _host_name(headers.get("host", ""))
        if self._hosts and host not in self._hosts:
            return error_response(421, "this server does not answer to that host name")
        if scope["path"].startswith("/api/") and (wait := self._limit.wait((scope.get("client") or ("",))[0])):
            seconds = math.ceil(wait)
            return error_response(429, f"too many requests; wait {seconds} s", {"retry-after": str(seconds)})
        if scope["method"] == "OPTIONS" and headers.get("origin", "") in self._origins:
            return Response(status_code=204)
        allowed = self._methods(scope["path"])
        if scope["method"] not in allowed:
            return error_response(405, f"{scope['method'][:20]} is not possible here", {"allow": _listed(allowed)})
        if scope["method"] not in ("GET", "HEAD") and (refusal := _forged(scope["method"], headers)):
            return refusal
        if self._token is None:
            return None
        given = _query_token(scope)
        if given is not None and hmac.compare_digest(given.encode(), self._token.encode()):
            return _welcome(scope, given)
        if not hmac.compare_digest(_sent_token(headers).encode(), self._token.encode()):
            return error_response(401, "a token is needed: open the address with ?token=…, or send it as Bearer")
        return None


def _listed(methods: frozenset[str]) -> str:
    return ", ".join(sorted(methods, key=lambda name: (name not in READING, name)))


def _forged(method: str, headers: Headers) -> Response | None:
    """Why a request that writes is not taken: it may come from a page of another site (CSRF).

    Browsers say where a request comes from, and let no page of another site send JSON without asking us first, which
    we never allow. Programs other than browsers send none of these headers.
    """
    if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return error_response(403, "only pages of this server may write")
    origin = headers.get("origin")
    if origin is not None and origin.partition("://")[2] != headers.get("host", ""):
        return error_response(403, "only pages of this server may write")
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if method == "POST" and kind != "application/json":
        return error_response(415, "send JSON, with Content-Type: application/json")
    return None


def _host_name(header: str) -> str:
    name = header.strip().lower()
    if name.startswith("["):
        return name.partition("]")[0].lstrip("[")
    return name.partition(":")[0].rstrip(".")


def _sent_token(headers: Headers) -> str:
    scheme, _, value = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return value.strip()
    try:
        morsel = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return morsel.value if morsel else ""


def _query_token(scope: Scope) -> str | None:
    return next((value for name, value in _query(scope) if name == "token"), None)


def _query(scope: Scope) -> list[tuple[str, str]]:
    """The parameters of an address; none if they are too many to be ours."""
    try:
        return parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True, max_num_fields=100)
    except ValueError:
        return []


def _welcome(scope: Scope, token: str) -> Response:
    """The token moves from the address into a cookie, so that it does not stand in the history; the rest stays."""
    rest = urlencode([pair for pair in _query(scope) if pair[0] != "token"])
    path = "/" + scope["path"].lstrip("/")  # two slashes would name another host
    response = RedirectResponse(f"{path}?{rest}" if rest else path, status_code=303)
    response.set_cookie(COOKIE, token, httponly=True, samesite="strict", path="/")
    return response
