"""What runs inside Jupyter and IPython: the extension, the kernel, its kernelspec."""
