"""Programs that some tests need and a machine may lack."""

from __future__ import annotations

import shutil

import pytest

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
needs_java = pytest.mark.skipif(shutil.which("java") is None, reason="java is not installed")
