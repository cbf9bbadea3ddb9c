"""Stands for the real PyTorch in tests of what happens where it is imported."""

real = "yes"
