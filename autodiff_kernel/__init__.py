"""PyTorch-style tensors and automatic differentiation over NumPy and CuPy."""
