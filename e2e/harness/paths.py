"""The paths of the programs. `cargo xtask test` sets them in the environment; otherwise the usual places are tried."""

import os
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
ASSETS = REPOSITORY / ".assets"


def _program(variable: str, usual: Path) -> Path:
    path = Path(os.environ.get(variable, usual))
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: run `cargo xtask test`, or build it and set {variable}")
    return path


def memgate() -> Path:
    return _program("MEMGATE_E2E_MEMGATE", REPOSITORY / "target/debug/memgate")


def double() -> Path:
    return _program("MEMGATE_E2E_DOUBLE", REPOSITORY / "target/debug/model-double")


def xtask() -> Path:
    return _program("MEMGATE_E2E_XTASK", REPOSITORY / "target/debug/xtask")


def envoy() -> Path:
    return _program("MEMGATE_E2E_ENVOY", ASSETS / "envoy/envoy")
