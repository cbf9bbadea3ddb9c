"""Layers without parameters, which only keep the arguments of one function."""

from ast import literal_eval as literal
from typing import Any

from .module import Module


def name_layer(error: Any, layer: Module) -> None:
    """Say in an error of ours which layer it is about."""
    if getattr(error, "explanation", None) is not None and "\nThe layer is " not in str(error):
        error.args = (f"{error}\nThe layer is {layer!r}.",)


class Plain(Module):
    """A layer that calls one function with its input and the arguments that it was made with.

    A class says `function`, and in `arguments` the names of its arguments with their defaults (`...`: none); `shown`
    are those that stand in its text, in order (with '=' where the name stands too, '?': where it is not false).
    """

    function: Any = None
    arguments: tuple[tuple[str, Any], ...] = ()
    shown: tuple[str, ...] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        names = [name for name, _ in self.arguments]
        kind = type(self).__name__
        if len(args) > len(names):
            raise TypeError(
                f"{kind}.__init__() takes from 1 to {len(names) + 1} positional arguments but {len(args) + 1} were given"
            )
        values = dict(zip(names, args))
        for name, value in kwargs.items():
            if name not in names:
                raise TypeError(f"{kind}.__init__() got an unexpected keyword argument '{name}'")
            if name in values:
                raise TypeError(f"{kind}.__init__() got multiple values for argument '{name}'")
            values[name] = value
        for name, default in self.arguments:
            if name not in values and default is ...:
                raise TypeError(f"{kind}.__init__() missing 1 required positional argument: '{name}'")
            self.__dict__[name] = values.get(name, None if default is ... else default)
        self.check()

    def check(self) -> None:
        """A class's own checks of its arguments."""

    def given(self) -> dict[str, Any]:
        """The arguments for the function."""
        own = self.__dict__
        return {name: own[name] for name, _ in self.arguments}

    def forward(self, input: Any) -> Any:
        try:
            return type(self).function(input, **self.given())
        except (RuntimeError, IndexError, ValueError) as error:
            name_layer(error, self)
            raise

    def extra_repr(self) -> str:
        parts = []
        for word in self.shown:
            name = word.rstrip("=?")
            value = getattr(self, name)
            if word.endswith("?"):
                if value:
                    parts.append(f"{name}={value}")
            else:
                parts.append(f"{name}={value}" if word.endswith("=") else f"{value}")
        return ", ".join(parts)


def made(
    name: str,
    function: Any,
    arguments: str,
    shown: str,
    doc: str,
    module: str,
    base: type = Plain,
    **more: Any,
) -> Any:
    """A class of such a layer. arguments: 'name=default …' as in a call."""
    pairs = []
    for part in arguments.split():
        word, equals, value = part.partition("=")
        pairs.append((word, literal(value) if equals else ...))
    return type(
        name,
        (base,),
        {
            "function": staticmethod(function) if function is not None else None,
            "arguments": tuple(pairs),
            "shown": tuple(shown.split()),
            "__doc__": doc,
            "__module__": module,
            **more,
        },
    )
