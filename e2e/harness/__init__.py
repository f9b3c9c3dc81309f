"""Runs the real parts for the tests: Envoy, memgate and the model double, on free ports and in temporary folders."""
