"""What a person sees: view models (plain data) and their renderers.

Each view is a function that gives a result object: Jupyter shows it by itself, `print` writes it as text, `.save()`
as a file. The model is plain data (`.model`), and the renderers know nothing of the engine.

    graph(y)       the graph that made a tensor, with values and gradients
    steps(y)       backward as frames, one for each operation
    trace(f, 2.)   a function's evaluation trace: values, tangents, adjoints
    place(x)       where tensors live, and what was copied
    why(x)         why it is as it is: the cause, the line, the cure, and the graph with the break marked
    nan(x)         where the first nan or inf came from, step by step
    memory(names)  which tensors, gradients and graphs hold how much memory
    dialect()      which dialect is spoken, and what was otherwise in 2017
    tensors(a, b)  what tensors are made of: strides, memory, values, who shares with whom
    gradients(m)   how large each parameter's gradient is, and what is odd about it
    jacobian(f, x) the Jacobian as a grid, with J·v or uᵀ·J
    gradcheck(f, x) derivatives three ways, and the error against the step
    shapes(y)      which operand had which shape on the way to y, or in a line that failed
    summary(m, size) a model's layers as a table: output shapes, parameters, bytes
    watch(mark())  what happened since a moment: nodes, memory, gradients, copies
    descent(f, x)  the paths of SGD, momentum and Adam on the contours of f
    surface(W)     a matrix, or a function of two numbers, as a surface in 3-D
    timegrad(f)    how long forward and backward take
    prediction(…)  a guess beside what came out
    check(f, …)    an exercise: right, wrong with a hint, or not attempted
    error(e)       what an error of ours is about, and what to write instead
    compiled(f, x) the program that torch.compile makes of f, beside its graph
    inspect(x)     what a tensor, a node or a model is: facts, history, a small graph
"""

from .compiled import compiled as compiled
from .descent import descent as descent
from .dialect import dialect as dialect
from .error import error as error
from .gradcheck import gradcheck as gradcheck
from .gradients import gradients as gradients
from .graph import graph as graph
from .inspection import inspect as inspect
from .jacobian import jacobian as jacobian
from .lessons import check as check
from .lessons import prediction as prediction
from .memory import memory as memory
from .nan import nan as nan
from .placement import place as place
from .result import Result as Result
from .shapes import shapes as shapes
from .steps import steps as steps
from .summary import summary as summary
from .surface import surface as surface
from .tensors import tensors as tensors
from .timegrad import timegrad as timegrad
from .trace import trace as trace
from .watch import mark as mark
from .watch import watch as watch
from .why import why as why

__all__ = [
    "Result",
    "check",
    "compiled",
    "descent",
    "dialect",
    "error",
    "gradcheck",
    "gradients",
    "graph",
    "inspect",
    "jacobian",
    "mark",
    "memory",
    "nan",
    "place",
    "prediction",
    "shapes",
    "steps",
    "summary",
    "surface",
    "tensors",
    "timegrad",
    "trace",
    "watch",
    "why",
]
