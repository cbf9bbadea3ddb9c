"""Record and replay: a function's tensor operations as one flat program, the static graph beside the dynamic one.

How a call is recorded, and why this way:

1. The function runs eagerly on the real tensors while the recorder only watches (recorder.py).  So the recording call's
   results, side effects and exceptions are exactly eager's, whatever the recorder thinks of them; a wrapper class on the
   arguments would have shown in `type(x)` and missed what the function captures.
2. All that a call can reach, arguments, closure, globals, attributes, is noted by the path to it, before and after
   (state.py).  The notes are the guard of later calls (form of each tensor, value of each number), and where they
   differ after the call, the function changes Python's state, which a program of operations would not repeat.
3. The recorded lines run once more on the inputs' old values, and each backward is written out by asking the table's rules
   for Tensors, an operation a line (expand.py): the same rules, so the same derivative.
4. The text is compiled (lines.py, program.py) and tried: on the old values it must give bit for bit the results,
   gradients and effects of eager, random numbers included.  If it does not, the function stays eager and says why.
5. The second call of the same form is recorded too, with its own values, and must give the same text and constants:
   a value that had slipped into the program as a constant shows there.  From the third call on the program runs alone.

Each line calls a row of the table on Tensors without a graph; views, promotion and devices are the engine's own, and so
are errors at run time.  (Raw arrays with `out=` would be faster, and a second place that knows all of that.)
"""
