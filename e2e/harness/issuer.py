"""A token issuer: keys, tokens, and the JWKS file with which Envoy verifies tokens."""

import json
import time
from pathlib import Path

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

ISSUER = "https://login.example.com/"
AUDIENCE = "llm-gateway"


class Issuer:
    def __init__(self):
        self._key = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    def write_jwks(self, file: Path):
        public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self._key.public_key()))
        file.write_text(json.dumps({"keys": [{**public, "kid": "test", "alg": "RS256", "use": "sig"}]}))

    def token(self, subject, **claims) -> str:
        now = int(time.time())
        payload = {"iss": ISSUER, "aud": AUDIENCE, "iat": now, "exp": now + 86_400, "sub": subject, **claims}
        payload = {name: value for name, value in payload.items() if value is not None}
        return jwt.encode(payload, self._key, algorithm="RS256", headers={"kid": "test"})
