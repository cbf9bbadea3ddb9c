"""The version of the package, told once."""

__version__ = "0.1.0"
