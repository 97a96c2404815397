"""Who may come in: certificates, nkeys and credentials of its own for a test, and servers that ask for them."""

import base64
import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import nkeys

__all__ = ["certificates", "credentials", "new_key"]

MADE_AT = 1_700_000_000


def certificates(folder: Path) -> None:
    """ca.pem, server.pem and server.key for 127.0.0.1, client.pem and client.key; and other.pem, a stranger's CA."""

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)

    new = ["req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout"]
    for name in ("ca", "other"):
        openssl(*new, f"{name}.key", "-x509", "-out", f"{name}.pem", "-days", "2", "-subj", f"/CN={name}")
    for name in ("server", "client"):
        (folder / f"{name}.ext").write_text("subjectAltName = IP:127.0.0.1\n")
        openssl(*new, f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        signed = ["x509", "-req", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2"]
        openssl(*signed, "-in", f"{name}.csr", "-out", f"{name}.pem", "-extfile", f"{name}.ext")


def new_key(kind: int) -> Any:
    """A new pair of keys of an operator, account or user."""
    return nkeys.from_seed(bytearray(nkeys.encode_seed(os.urandom(32), kind)))


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _token(issuer: Any, subject: Any, name: str, kind: str, claims: dict[str, Any]) -> str:
    """A JWT as NATS has them: signed with an nkey."""
    body: dict[str, Any] = {
        "iat": MADE_AT,
        "iss": issuer.public_key.decode(),
        "sub": subject.public_key.decode(),
        "name": name,
        "nats": {"type": kind, "version": 2, **claims},
    }
    body["jti"] = base64.b32encode(hashlib.sha256(json.dumps(body).encode()).digest()).rstrip(b"=").decode()
    head = {"typ": "JWT", "alg": "ed25519-nkey"}
    text = ".".join(_encoded(json.dumps(part).encode()) for part in (head, body))
    return f"{text}.{_encoded(issuer.sign(text.encode()))}"


def credentials(file: Path) -> str:
    """Write a user's .creds file; gives the configuration of a server whose operator lets that user in."""
    operator = new_key(nkeys.PREFIX_BYTE_OPERATOR)
    system = new_key(nkeys.PREFIX_BYTE_ACCOUNT)
    account, user = new_key(nkeys.PREFIX_BYTE_ACCOUNT), new_key(nkeys.PREFIX_BYTE_USER)
    every = ("subs", "data", "payload", "imports", "exports", "conn", "leaf", "mem_storage", "disk_storage", "streams")
    limits = dict.fromkeys((*every, "consumer"), -1) | {"wildcards": True}
    of_operator = _token(operator, operator, "operator", "operator", {})
    of_account = _token(operator, account, "crawls", "account", {"limits": limits})
    of_system = _token(operator, system, "system", "account", {"limits": limits | dict.fromkeys(every[-3:], 0)})
    of_user = _token(account, user, "periplus", "user", {"subs": -1, "data": -1, "payload": -1})
    file.write_text(
        f"-----BEGIN NATS USER JWT-----\n{of_user}\n------END NATS USER JWT------\n\n"
        f"-----BEGIN USER NKEY SEED-----\n{user.seed.decode()}\n------END USER NKEY SEED------\n"
    )
    accounts = {account: of_account, system: of_system}
    listed = "\n".join(f"  {key.public_key.decode()}: {token}" for key, token in accounts.items())
    return (
        f"operator: {of_operator}\nsystem_account: {system.public_key.decode()}\n"
        f"resolver: MEMORY\nresolver_preload: {{\n{listed}\n}}\n"
    )
