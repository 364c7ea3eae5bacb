"""Every route and the role it needs. A route that is missing here is refused to everybody."""

from __future__ import annotations

from taxosphere.service.auth import PUBLIC

VIEWER, CURATOR, ADMIN = "viewer", "curator", "admin"
API = "/api/v1"

_API_ROLES = {
    "GET /health": PUBLIC,
    "GET /ready": PUBLIC,
    "POST /session": PUBLIC,
    "POST /session/end": VIEWER,
    "GET /me": VIEWER,
    "GET /taxonomy": VIEWER,
    "GET /concepts": VIEWER,
    "GET /concepts/{id:path}": VIEWER,
    "POST /suggest": VIEWER,
    "GET /queue": VIEWER,
    "POST /queue": CURATOR,
    "GET /queue/{item:path}": VIEWER,
    "POST /queue/{item:path}/assign": CURATOR,
    "GET /decisions": VIEWER,
    "POST /decisions": CURATOR,
    "GET /decisions/bulk": VIEWER,
    "POST /decisions/bulk": CURATOR,
    "GET /decisions/precision": VIEWER,
    "POST /decisions/{id}/undo": CURATOR,
    "GET /jobs": VIEWER,
    "POST /jobs": ADMIN,
    "GET /jobs/{id}": VIEWER,
    "POST /jobs/{id}/cancel": ADMIN,
    "GET /model": VIEWER,
    "POST /model/activate": ADMIN,
    "GET /sphere": VIEWER,
    "POST /imports": CURATOR,
    "POST /imports/{upload}": CURATOR,
    "GET /export": VIEWER,
    "GET /events": VIEWER,
}
_OTHER_ROLES = {
    "GET /openapi.json": PUBLIC,
    "GET /": PUBLIC,
    "GET /{path:path}": PUBLIC,
}
_SERVICES = ("", "/parent-of", "/same-as")
_RECONCILE_ROLES = {
    f"{method} /reconcile{service}{path}": PUBLIC
    for service in _SERVICES
    for method, path in (
        ("GET", ""),
        ("POST", ""),
        ("GET", "/preview"),
        ("GET", "/suggest/{kind}"),
        ("GET", "/extend/propose"),
    )
}


def roles() -> dict[tuple[str, str], str]:
    """Needed role by (method, path of the route)."""
    listed = {
        **{key.replace(" ", f" {API}", 1): role for key, role in _API_ROLES.items()},
        **_OTHER_ROLES,
        **_RECONCILE_ROLES,
    }
    return {(key.partition(" ")[0], key.partition(" ")[2]): role for key, role in listed.items()}
