"""Speed of the engine beside PyTorch and beside hand-written NumPy: `python -m benchmarks --help`.

Nothing here is part of the installed package, and no test asserts a time: people read these figures.
"""
