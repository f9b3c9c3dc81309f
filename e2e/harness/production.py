"""Edits of envoy/production.yaml: whose tokens it accepts, and the key with which it calls memgate's REST API."""

import os
from pathlib import Path

from . import http
from .envoy import cluster, http_filter
from .issuer import Issuer
from .memgate import BEARER
from .stack import Stack

GATEWAY_KEY_ENV = "MEMGATE_GATEWAY_KEY"


def trusting(issuer: Issuer, folder: Path):
    """An edit of Envoy's configuration that makes it accept this issuer's tokens."""
    issuer.write_jwks(folder / "jwks.json")

    def edit(config):
        jwt = http_filter(config, "envoy.filters.http.jwt_authn")
        jwt["providers"]["users"]["local_jwks"] = {"filename": str(folder / "jwks.json")}

    return edit


def without_token(config):
    """An edit of Envoy's configuration that lets requests without a token pass. A wrong token is refused all the same."""
    jwt = http_filter(config, "envoy.filters.http.jwt_authn")
    for rule in jwt["rules"]:
        if "requires" not in rule:
            continue
        rule["requires"] = {"requires_any": {"requirements": [rule["requires"], {"allow_missing": {}}]}}


def stack_with_gateway_key(folder: Path, issuer: Issuer, config: dict, *, anonymous: bool = False, **options) -> Stack:
    """A stack whose Envoy accepts this issuer's tokens and routes users to their own memories. `anonymous`: and lets
    requests without a token pass."""
    trust = trusting(issuer, folder)

    def edit(envoy):
        trust(envoy)
        if anonymous:
            without_token(envoy)
        # Envoy starts after this, with the key in its environment.
        api = cluster(envoy, "memgate_api")
        address = api["load_assignment"]["endpoints"][0]["lb_endpoints"][0]["endpoint"]["address"]
        body = {"name": "envoy", "scopes": ["gateway"]}
        made = http.request(address["socket_address"]["port_value"], "POST", "/admin/keys", body, BEARER)
        assert made.status == 201, made.body
        os.environ[GATEWAY_KEY_ENV] = made.json()["key"]

    try:
        return Stack(folder, config, base="production.yaml", edit=edit, memgate_first=True, **options)
    finally:
        os.environ.pop(GATEWAY_KEY_ENV, None)
