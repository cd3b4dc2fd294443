"""What both kinds of link endpoint have: a name, two handles, a terminus, and the ways in which a link ends.

Knows: detach in both directions. Must not know: messages; ``sending`` and ``receiving`` do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amqpspec.reference.amqp_1_0.errors import error_of

if TYPE_CHECKING:
    from amqpspec.reference.amqp_1_0.nodes import Terminus
    from amqpspec.reference.amqp_1_0.session import Session

STOLEN = "amqp:link:stolen"
FIRST, SECOND = 0, 1
UNSETTLED, SETTLED, MIXED = 0, 1, 2


class End:
    """One link endpoint of the broker."""

    is_sender = False

    def __init__(self, session: Session, handle: int, own_handle: int, terminus: Terminus) -> None:
        self.session, self.handle, self.own_handle, self.terminus = session, handle, own_handle, terminus
        self.faulty = session.faulty
        self.attached = True
        self.delivery_count = self.credit = 0
        self.snd_settle_mode, self.rcv_settle_mode = MIXED, FIRST
        self.no_new = False

    @property
    def name(self) -> str:
        """The link's name."""
        return self.terminus.name

    # --- the end

    def fail(self, condition: str, text: str, *, closed: bool = False) -> None:
        """Refuse at the scope of the link: say why, destroy the endpoint, wait for the other detach."""
        if not self.attached:
            return
        told = "amqp:link:detach-forced" if self._wrongly_told(condition) else condition
        error = error_of(self.faulty, told, text, "detach")
        if not self.faulty("failed-endpoint-works-on"):
            self.session.destroy(self, closed=closed, stolen=condition == STOLEN)
        self.send_detach(closed=closed, error=error)

    def _wrongly_told(self, condition: str) -> bool:
        if condition == STOLEN:
            return self.faulty("stolen-link-told-as-forced")
        return condition == "amqp:resource-deleted" and self.faulty("deleted-node-told-as-forced")

    def detached_by_peer(self, closed: bool) -> None:
        """The partner has detached: answer, free both handles; the terminus stays unless the link is closed."""
        closing = closed and not self.faulty("closing-detach-answered-without-closed")
        if self.faulty("every-detach-closes"):
            closing = closed = True
        self.session.detach(self, closed=closed)
        if not self.faulty("detach-not-answered"):
            self.send_detach(closed=closing, error=None)

    def send_detach(self, *, closed: bool, error: dict[str, Any] | None) -> None:
        """One detach."""
        handle = None if self.faulty("detach-without-handle") else self.own_handle
        self.session.send("detach", {"handle": handle, "closed": closed or None, "error": error})

    def unhook(self) -> None:
        """Stop whatever this endpoint does."""
        self.attached = False
        if self.terminus.end is self:
            self.terminus.end = None

    # --- what a flow tells

    def link_state(self) -> dict[str, Any]:
        """The link's part of a flow."""
        raise NotImplementedError
