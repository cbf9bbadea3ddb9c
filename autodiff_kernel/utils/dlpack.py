"""torch.utils.dlpack: exchange of memory with other libraries."""

from ..core.dlpack import DLDeviceType as DLDeviceType
from ..core.dlpack import from_dlpack as from_dlpack
from ..core.dlpack import to_dlpack as to_dlpack

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]
