"""Wire format of requests and replies between the process that wants files read and its child.

A request is the lengths of name and data, then both. A reply is JSON (`grounding.bounded.child` has its frame). JSON and not pickle: what
has read a hostile file is not trusted by the process that asked.
"""

from __future__ import annotations

import struct

REQUEST = struct.Struct(">IQ")
