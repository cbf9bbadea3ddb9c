"""torch.nn.utils: tools around parameters and sequences."""

from . import rnn as rnn
from .gradients import clip_grad_norm as clip_grad_norm
from .gradients import clip_grad_norm_ as clip_grad_norm_
from .gradients import clip_grad_value_ as clip_grad_value_
from .gradients import clip_grads_with_norm_ as clip_grads_with_norm_
from .gradients import get_total_norm as get_total_norm
from .gradients import parameters_to_vector as parameters_to_vector
from .gradients import vector_to_parameters as vector_to_parameters
