"""What a person sees: view models (plain data) and their renderers.

Each view is a function that gives a result object: Jupyter shows it by itself, `print` writes it as text, `.save()`
as a file. The model is plain data (`.model`), and the renderers know nothing of the engine.

    graph(y)       the graph that made a tensor, with values and gradients
    trace(f, 2.)   a function's evaluation trace: values, tangents, adjoints
    place(x)       where tensors live, and what was copied
    error(e)       what an error of ours is about, and what to write instead
"""

from .error import error as error
from .graph import graph as graph
from .placement import place as place
from .result import Result as Result
from .trace import trace as trace

__all__ = ["Result", "error", "graph", "place", "trace"]
