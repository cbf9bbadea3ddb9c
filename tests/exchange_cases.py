"""Expressions at the border to NumPy, Python and other libraries; `data/exchange.json` holds PyTorch's answers.

`python -m tests.record_exchange` writes them down.
"""

import array
import collections
import copy
import math
import operator
import pathlib
import pickle
import warnings
from typing import Any

import numpy as np

KEYWORDS = pathlib.Path(__file__).parent / "data" / "keywords.txt"
NAMES = {"np": np, "array": array, "collections": collections, "copy": copy, "math": math, "operator": operator,
         "pickle": pickle}  # fmt: skip


def described(value: Any) -> Any:
    """A value in plain data: type, dtype, shape, elements."""
    if isinstance(value, np.ndarray):
        return ["ndarray", str(value.dtype), list(value.shape), repr(value.tolist())]
    if isinstance(value, np.generic):
        return ["number of NumPy", type(value).__name__, repr(value.item())]
    if hasattr(value, "requires_grad"):
        about = [str(value.dtype), list(value.shape), value.requires_grad, list(value.stride())]
        return [type(value).__name__, *about, repr(value.detach().tolist())]
    if type(value) in (list, tuple):
        return [type(value).__name__, *map(described, value)]
    return [type(value).__name__, repr(value)]


def answer(expression: str, torch: Any) -> Any:
    """What comes out; of an error its type and the beginning of its text; and the kinds of warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            names = {**NAMES, "torch": torch, "x": torch.tensor([0.5, 2.0]), "I": torch.eye(2) * 2}
            found = described(eval(expression, names))
        except Exception as error:
            found = ["raises", type(error).__name__, str(error).splitlines()[0][:28] if str(error) else ""]
    return found, [w.category.__name__ for w in caught if w.category is not DeprecationWarning]


CASES = r"""
np.add(torch.ones(3), np.ones(3))
np.sin(torch.ones(3))
np.sin(torch.ones(3,requires_grad=True))
np.multiply(torch.ones(3), 2)
torch.ones(3) + np.ones(3)
torch.ones(3) * np.float64(2)
np.float64(2) * torch.ones(3)
np.float32(2) * torch.ones(3)
np.int64(2) + torch.ones(3)
np.float64(2) - torch.ones(3, requires_grad=True)
np.float64(2) ** torch.ones(3)
np.float64(2) / torch.ones(3)
np.float64(2) < torch.ones(3)
np.ones(3) == torch.ones(3)
torch.ones(3) == np.ones(3)
torch.ones(3) @ np.ones(3)
np.ones(3) @ torch.ones(3)
np.array(torch.ones(3))
np.array(torch.ones(3), dtype=np.int32)
np.asarray(torch.ones(3))
np.asarray(torch.ones(3,requires_grad=True))
np.array([torch.ones(3), torch.zeros(3)])
np.array([torch.tensor(1.), torch.tensor(2.)])
np.argmax(torch.tensor([1.,3.,2.]))
np.concatenate([torch.ones(2), torch.zeros(1)])
np.stack([torch.ones(2), torch.zeros(2)])
np.reshape(torch.ones(4), (2,2))
np.transpose(torch.ones(2,3))
np.sort(torch.tensor([3.,1.,2.]))
np.dot(torch.ones(3), torch.ones(3))
np.allclose(torch.ones(3), np.ones(3))
np.linalg.norm(torch.tensor([3.,4.]))
np.exp(torch.tensor(0.))
np.maximum(torch.ones(3), 2.)
np.where(torch.tensor([True,False]), 1, 0)
np.isnan(torch.ones(2))
np.round(torch.tensor([1.234]), 1)
np.clip(torch.tensor([1.,5.]), 0, 2)
np.squeeze(torch.ones(1,2))
np.abs(torch.tensor([-1]))
np.sqrt(torch.tensor([4]))
np.zeros_like(torch.ones(2))
np.shape(torch.ones(2,3))
np.ndim(torch.ones(2,3))
math.sqrt(torch.tensor(4.))
math.floor(torch.tensor(4.5))
math.isnan(torch.tensor(4.5))
round(torch.tensor(4.567), 1)
round(torch.tensor(4.567))
abs(torch.tensor(-4.567))
divmod(torch.tensor(7.), 2)
pow(torch.tensor(2.), 3)
sum([torch.tensor(1.), torch.tensor(2.)])
sum(torch.ones(3))
max(torch.tensor([1.,3.,2.]))
min(torch.ones(3), torch.zeros(3))
sorted(torch.tensor([3.,1.,2.]))
list(reversed(torch.tensor([3.,1.,2.])))
list(zip(torch.ones(2), torch.zeros(2)))
all(torch.tensor([True, True]))
any(torch.tensor([False, True]))
bool(torch.tensor([0.5]))
bool(torch.tensor([]))
bool(torch.tensor([1,2]))
bool(torch.tensor(0))
int(torch.tensor(3.7))
int(torch.tensor([3]))
int(torch.tensor([3,4]))
float(torch.tensor(1, dtype=torch.int64))
float(torch.tensor([[1.5]]))
complex(torch.tensor(1.5))
float(torch.tensor(1+2j))
int(torch.tensor(float('nan')))
range(torch.tensor(3))
[1,2,3][torch.tensor(1)]
[1,2,3][torch.tensor(1.)]
[1,2,3][torch.tensor([1])]
operator.index(torch.tensor(3))
operator.index(torch.tensor(True))
hex(torch.tensor(255))
len(torch.ones(2,3))
len(torch.tensor(1.))
list(torch.tensor(1.))
list(torch.ones(2))
1 in torch.tensor([1,2])
5. in torch.tensor([1,2])
'a' in torch.tensor([1,2])
torch.tensor(1) in torch.tensor([1,2])
torch.tensor([1,2]) in torch.tensor([[1,2],[3,4]])
None in torch.tensor([1])
torch.tensor([1,2]).tolist()
torch.tensor(1.5).tolist()
torch.tensor([]).tolist()
torch.zeros(0,3).tolist()
torch.zeros(2,0).tolist()
torch.tensor([True]).tolist()
torch.tensor([1+2j]).tolist()
torch.tensor([1.5],dtype=torch.float16).tolist()
torch.tensor(1.5).item()
torch.tensor([1,2]).item()
torch.tensor([]).item()
torch.tensor([[7]]).item()
torch.ones(2).__array__(np.float64)
torch.ones(2).__array__()
torch.ones(2, requires_grad=True).__array__()
torch.ones(2, requires_grad=True).numpy(force=True)
torch.ones(2).numpy().flags.writeable
np.array(torch.ones(2), copy=True)
np.asarray(torch.ones(2)).__array_interface__['data'][0] == 0
f"{torch.tensor(1.5):.3f}"
f"{torch.tensor([1.5]):.3f}"
f"{torch.tensor(3):d}"
f"{torch.tensor([1,2])}"
"%.2f" % torch.tensor(1.5)
"%d" % torch.tensor(3)
str(torch.tensor(1.5))
copy.copy(torch.ones(2))
copy.deepcopy(torch.ones(2))
copy.deepcopy(torch.ones(2, requires_grad=True))
copy.deepcopy(torch.ones(2, requires_grad=True) * 2)
pickle.loads(pickle.dumps(torch.ones(2)))
pickle.loads(pickle.dumps(torch.ones(2, requires_grad=True)))
pickle.loads(pickle.dumps(torch.ones(2, requires_grad=True) * 2))
pickle.loads(pickle.dumps(torch.float32)) is torch.float32
pickle.loads(pickle.dumps(torch.device('cpu')))
pickle.loads(pickle.dumps(torch.Size([2,3])))
copy.deepcopy(torch.Size([2,3]))
memoryview(torch.ones(2))
bytes(torch.tensor([1,2],dtype=torch.uint8))
bytearray(torch.tensor([1,2],dtype=torch.uint8))
array.array('f', torch.ones(2))
torch.tensor(array.array('f', [1,2]))
torch.tensor(memoryview(b'ab'))
torch.tensor(bytearray(b'ab'))
torch.as_tensor(memoryview(np.ones(2)))
torch.asarray(memoryview(np.ones(2)))
torch.asarray(bytearray(b'abcdefgh'), dtype=torch.float32).shape
torch.tensor(collections.deque([1,2]))
torch.tensor({1,2})
torch.tensor({'a':1})
torch.tensor(range(3))
torch.tensor(np.ones(2)[::-1])
torch.tensor(np.array(['a']))
torch.tensor(np.array([None]))
torch.tensor(np.array([1,2],dtype=object))
torch.tensor(np.datetime64('2020-01-01'))
torch.from_numpy(np.arange(4.)[::-1])
torch.from_numpy(np.arange(4.)[::2]).stride()
torch.from_numpy(np.arange(4,dtype='>f4'))
torch.from_numpy(np.array(['a']))
torch.from_numpy(np.array([None]))
torch.from_numpy(np.zeros(2, dtype=[('a','f4')]))
torch.from_numpy(np.array([1,2],dtype=np.longdouble))
torch.from_numpy(np.array(['2020-01-01'],dtype='datetime64[D]'))
torch.from_numpy(np.float64(3.))
torch.from_numpy([1,2])
torch.from_numpy(np.array(3.))
torch.from_numpy(np.ma.array([1,2]))
torch.from_numpy(np.matrix([[1,2]]))
torch.from_numpy(np.zeros(2,bool))
torch.from_numpy(np.zeros(2,np.complex64))
torch.from_numpy(np.lib.stride_tricks.as_strided(np.arange(4.),(2,2),(0,8)))
torch.from_numpy(np.frombuffer(bytearray(9), dtype=np.uint8)[1:].view(np.float64))
torch.from_numpy(np.ndarray((2,), np.float64, bytearray(19), 0, (9,)))
torch.tensor(np.array([1,2],dtype='>i4'))
torch.tensor([np.float32(1.), np.float32(2.)])
torch.tensor([np.float64(1.), 2])
torch.tensor([np.array([1,2]), np.array([3,4])])
torch.tensor([torch.tensor(1), torch.tensor(2)])
torch.tensor([torch.tensor([1,2]), torch.tensor([3,4])])
torch.tensor([torch.tensor(1.), torch.tensor(2)])
torch.as_tensor(np.float32(1))
torch.as_tensor(np.ones(2), dtype=torch.float32)
torch.Tensor(np.ones(2))
torch.FloatTensor(np.ones(2, np.float32))
torch.FloatTensor(np.ones(2))
torch.tensor(1.).numpy()
torch.tensor([1.,2.]).numpy()[0]
torch.ones(2) + [1,2]
torch.ones(2) == [1,2]
torch.ones(2) == None
torch.ones(2) != 'a'
torch.ones(2) < 'a'
torch.ones(2) + 'a'
torch.ones(2) + None
None + torch.ones(2)
torch.ones(2) & torch.ones(2)
-torch.tensor([True])
torch.tensor([True]) - torch.tensor([True])
~torch.tensor([1.])
not torch.tensor([0])
torch.ones(2, 2).T.is_contiguous()
torch.ones(2, 3).mT.shape
torch.ones(2,3,dtype=torch.complex64).H.shape
torch.ones(3).T.shape
torch.ones(2).names
torch.ones(2).layout
torch.ones(2).is_sparse
torch.ones(2).is_quantized
torch.ones(2).is_meta
torch.ones(2).is_cpu
torch.ones(2).is_nested
torch.ones(2).is_mps
torch.ones(2).is_xpu
torch.ones(2).is_sparse_csr
torch.ones(2).is_shared()
torch.ones(2).is_mkldnn
torch.ones(2).name
torch.ones(2).volatile
torch.ones(2).is_inference()
torch.is_tensor(torch.ones(1)), torch.is_tensor(np.ones(1))
torch.is_storage(torch.ones(1))
torch.numel(torch.ones(2,3))
torch.is_floating_point(torch.ones(2))
torch.is_nonzero(torch.tensor([1.]))
torch.is_nonzero(torch.tensor([1.,2.]))
torch.tensor(5.).is_nonzero()
torch.pi, torch.e, torch.inf, torch.nan, torch.newaxis
torch.ones(2)[torch.newaxis].shape
torch.Size([2,3]) + (4,)
(1,) + torch.Size([2,3])
torch.Size([2,3]).numel()
torch.Size([2,3])[0:1]
torch.Size([2,3])[-1]
torch.Size([2,3]) == (2,3)
torch.Size([2,3]) * 2
torch.Size((2, torch.tensor(3)))
torch.Size([2.5])
torch.Size('ab')
repr(torch.Size([2,3])), str(torch.Size([]))
torch.Size([2,3]).count(2), torch.Size([2,3]).index(3)
hash(torch.Size([2,3])) == hash((2,3))
torch.zeros(torch.Size([2,3])).shape
torch.ones(2,3).size()[1]
torch.ones(2,3).size(-1)
torch.ones(2,3).size(dim=0)
torch.ones(2,3).stride(dim=0)
torch.ones(2,3).stride(-1)
torch.ones(2,3).stride(5)
torch.ones(2,3).stride()
torch.ones(2,3).size(2)
torch.ones(4).resize_(2,2)
torch.ones(4).resize_((2,))
torch.ones(2).resize_(4).shape
torch.ones(4).resize(2,2)
torch.ones(2,requires_grad=True).resize_(4)
torch.ones(2).resize_as_(torch.ones(2,1))
torch.ones(2,3).data_ptr() == 0
torch.empty(0).data_ptr()
torch.ones(2,3).element_size(), torch.ones(2,3).nbytes, torch.ones(2,3).itemsize, torch.ones(2,3).ndim
torch.float32.itemsize, torch.float32.is_floating_point, torch.float32.is_complex, torch.float32.is_signed
torch.ones(3).storage()
torch.ones(2,3)[0].storage()
torch.ones(2,3)[1].storage().size()
torch.ones(2,3)[1].untyped_storage().nbytes()
torch.ones(2,3)[1].untyped_storage().size()
torch.ones(2,3).storage()[0]
torch.ones(2,3).storage().tolist()
torch.ones(2,3).untyped_storage()
torch.ones(2,3).untyped_storage()[3]
torch.ones(2,3).storage().dtype
torch.ones(2,3).storage().data_ptr() == 0
len(torch.ones(2,3).storage())
list(torch.tensor([1,2]).storage())
type(torch.ones(1).storage())
type(torch.ones(1).untyped_storage())
torch.tensor([1,2,3]).storage()[1:2]
torch.tensor([1,2,3]).storage()[5]
torch.get_default_dtype()
torch.get_default_device()
torch.are_deterministic_algorithms_enabled()
torch.get_float32_matmul_precision()
torch.set_float32_matmul_precision('nope')
torch.set_num_threads(0)
torch.set_num_threads('a')
torch.ones(2).device, torch.ones(2).get_device()
torch.ones(2).is_pinned()
torch.ones(2).type()
torch.ones(2).type(torch.int32)
torch.ones(2).type('torch.DoubleTensor')
torch.ones(2).to(torch.float64, copy=True)
torch.ones(2).to('cpu', torch.int32)
torch.ones(2).to(torch.zeros(1,dtype=torch.int64))
torch.ones(2).to(dtype=torch.int8, non_blocking=True)
torch.ones(2).to()
torch.ones(2).to('nope')
torch.ones(2).type_as(torch.zeros(1,dtype=torch.int64))
torch.from_dlpack(np.arange(3))
torch.from_dlpack(np.arange(6.).reshape(2,3).T)
np.from_dlpack(torch.ones(2))
np.from_dlpack(torch.ones(2,requires_grad=True))
np.from_dlpack(torch.tensor([True]))
np.from_dlpack(torch.ones(2,3).t()).strides
torch.from_dlpack(torch.ones(2))
torch.from_dlpack(3)
torch.from_dlpack([1])
torch.ones(2).__dlpack_device__()
torch.ones(2).__dlpack__(stream=1)
torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(torch.ones(2)))
torch.from_dlpack(torch.ones(2), copy=True)
torch.from_dlpack(torch.ones(2), device='cpu')
torch.from_dlpack(np.array(5.))
torch.frombuffer(b'abcd', dtype=torch.int16)
torch.ones(2).apply_(lambda x: x+1)
torch.ones(2).map_(torch.ones(2)*3, lambda a,b: a+b)
torch.ones(3).index_fill(0, torch.tensor([0]), 2)
torch.detach(torch.ones(2))
torch.ones(2).set_(torch.zeros(3))
torch.ones(2).set_()
torch.ones(2).is_set_to(torch.ones(2))
torch.ones(2).to_dense()
"""


def cases() -> list[str]:
    return CASES.strip().splitlines()


def keyword_cases() -> list[str]:
    """Calls with the names of their arguments."""
    return KEYWORDS.read_text(encoding="utf-8").splitlines()
