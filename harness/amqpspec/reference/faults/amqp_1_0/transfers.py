"""Faults of deliveries.

Knows: names, what they break, one sentence each. Must not know: how a fault is acted out.
"""

from __future__ import annotations

from amqpspec.reference.faults.fault import Fault

FAULTS = (
    Fault(
        "long-messages-cut",
        (
            "transfers/fragments",
            "transfers/large/additional-transfers",
            "performatives/transfer/split",
            "framing/payload",
            "performatives/open/max-frame-size/unset",
        ),
        "messages of more than 400 octets lose their end on the way out",
    ),
    Fault(
        "small-messages-split",
        ("performatives/transfer/single",),
        "messages go out in transfers of 32 octets",
    ),
    Fault(
        "largest-transfers-refused",
        ("performatives/transfer/single",),
        "a transfer about as large as frames may be is refused",
    ),
    Fault(
        "message-ends-with-every-transfer",
        ("transfers/fragments", "transfers/large/additional-transfers", "performatives/transfer/split"),
        "transfers never say that there is more",
    ),
    Fault(
        "first-fragment-only",
        (
            "transfers/fragments",
            "performatives/transfer/split",
            "transfers/large/interleaved-links",
            "performatives/transfer/delivery-id/continuation",
            "performatives/transfer/delivery-tag/continuation",
            "performatives/transfer/message-format/continuation",
        ),
        "of a message in several transfers, the first is kept",
    ),
    Fault(
        "fragments-mixed-up-by-links",
        ("transfers/large/interleaved-links",),
        "fragments belong to the message that was begun last, whatever their link",
    ),
    Fault(
        "continuation-has-to-repeat-everything",
        (
            "performatives/transfer/delivery-id/continuation",
            "performatives/transfer/delivery-tag/continuation",
            "performatives/transfer/message-format/continuation",
        ),
        "a continuation without id, tag or format is refused",
    ),
    Fault(
        "continuation-must-not-repeat",
        (
            "performatives/transfer/delivery-tag/continuation",
            "performatives/transfer/message-format/continuation",
            "performatives/transfer/delivery-id/continuation",
        ),
        "a continuation with tag or format is refused",
    ),
    Fault(
        "deliveries-interleaved-on-a-link",
        ("transfers/large/not-within-link",),
        "transfers of several deliveries alternate on one link",
    ),
    Fault(
        "transfer-without-handle",
        ("performatives/transfer/handle",),
        "the broker's transfers lack the handle",
    ),
    Fault(
        "first-transfer-without-delivery-id",
        ("performatives/transfer/delivery-id/first",),
        "the broker's deliveries have no delivery-id",
    ),
    Fault(
        "first-transfer-without-delivery-tag",
        ("performatives/transfer/delivery-tag/first", "transfers/delivery-tag"),
        "the broker's deliveries have no delivery-tag",
    ),
    Fault(
        "first-transfer-without-message-format",
        ("performatives/transfer/message-format/first",),
        "the broker's deliveries have no message-format",
    ),
    Fault(
        "delivery-id-changes-on-the-way",
        ("performatives/transfer/delivery-id/differs",),
        "the broker's continuations have another delivery-id",
    ),
    Fault(
        "delivery-tag-changes-on-the-way",
        ("performatives/transfer/delivery-tag/differs",),
        "the broker's continuations have another delivery-tag",
    ),
    Fault(
        "message-format-changes-on-the-way",
        ("performatives/transfer/message-format/differs",),
        "the broker's continuations have another message-format",
    ),
    Fault(
        "longest-tags-refused",
        ("definitions/delivery-tag/length",),
        "delivery-tags of 32 octets are refused",
    ),
    Fault(
        "delivery-tag-too-long",
        ("definitions/delivery-tag/length",),
        "delivery-tags have more than 32 octets",
    ),
    Fault(
        "delivery-tags-repeat",
        ("transfers/delivery-tag/unique", "links/delivery-tag-per-attempt"),
        "delivery-tags alternate between two values",
    ),
    Fault(
        "redelivery-under-the-old-tag",
        ("links/delivery-tag-per-attempt", "transfers/delivery-tag/unique"),
        "what is delivered again has the tag of the first delivery",
    ),
    Fault(
        "mode-second-on-link-of-mode-first",
        ("performatives/transfer/rcv-settle-mode/illegal",),
        "the broker's transfers have mode second, whatever their link has",
    ),
    Fault(
        "mode-left-out-is-second",
        ("performatives/transfer/rcv-settle-mode/default", "performatives/transfer/rcv-settle-mode/first"),
        "a transfer without mode has mode second",
    ),
    Fault(
        "mode-left-out-is-first",
        ("performatives/transfer/rcv-settle-mode/default", "performatives/transfer/rcv-settle-mode/second"),
        "a transfer without mode has mode first",
    ),
    Fault(
        "mode-minded-though-settled",
        ("performatives/transfer/rcv-settle-mode/settled",),
        "the mode of a settled transfer is minded",
    ),
    Fault(
        "mode-survives-suspension",
        ("performatives/transfer/rcv-settle-mode/not-retained",),
        "a resumed delivery keeps the mode it had",
    ),
    Fault(
        "mode-first-waits-for-the-sender",
        ("performatives/transfer/rcv-settle-mode/first", "definitions/rcv-settle-mode/first"),
        "in mode first, the broker does not settle by itself",
    ),
    Fault(
        "mode-second-settled-at-once",
        (
            "performatives/transfer/rcv-settle-mode/second",
            "definitions/rcv-settle-mode/second",
            "performatives/attach/rcv-settle-mode/respected",
        ),
        "in mode second, the broker settles by itself",
    ),
    Fault(
        "settled-by-sender-not-heard",
        (
            "definitions/rcv-settle-mode/second",
            "performatives/transfer/rcv-settle-mode/second",
            "performatives/disposition/settled",
        ),
        "settlement by the sender is not heard",
    ),
    Fault(
        "settled-sent-unsettled",
        (
            "performatives/transfer/settled/mode-settled",
            "definitions/snd-settle-mode/settled",
            "performatives/attach/snd-settle-mode/respected",
        ),
        "in mode settled, deliveries go out unsettled",
    ),
    Fault(
        "unsettled-sent-settled",
        (
            "performatives/transfer/settled/mode-unsettled",
            "definitions/snd-settle-mode/unsettled",
            "transfers/receiver-first",
        ),
        "deliveries go out settled, whatever the mode",
    ),
    Fault(
        "mode-settled-kept-until-acknowledged",
        ("performatives/transfer/settled/done",),
        "what went out settled is kept until it is acknowledged",
    ),
    Fault(
        "settled-left-out-is-true",
        ("performatives/transfer/settled/unset-first", "performatives/transfer/settled/unset-never"),
        "settled left out is true",
    ),
    Fault(
        "settled-left-out-is-false",
        ("performatives/transfer/settled/unset-later",),
        "settled left out is false, whatever was said before",
    ),
    Fault(
        "last-settled-wins",
        ("performatives/transfer/settled/unset-later", "performatives/transfer/settled/unset-never"),
        "of several transfers, the last one says whether the message is settled",
    ),
    Fault(
        "settled-has-to-be-said-first",
        ("performatives/transfer/settled/unset-never",),
        "settled on a later transfer is not heard",
    ),
    Fault(
        "booleans-of-one-octet-refused",
        ("definitions/snd-settle-mode/mixed",),
        "a transfer that says settled in the one-octet encoding of booleans ends the session",
    ),
    Fault(
        "booleans-of-one-octet-are-true",
        ("definitions/snd-settle-mode/mixed",),
        "settled in the one-octet encoding of booleans is true, whatever the octet",
    ),
    Fault(
        "settled-deliveries-disposed-of",
        (
            "transfers/settled-at-once",
            "performatives/transfer/settled/unset-later",
            "definitions/snd-settle-mode/mixed",
        ),
        "the broker sends dispositions for settled deliveries",
    ),
    Fault(
        "settled-messages-dropped",
        (
            "transfers/settled-at-once",
            "definitions/snd-settle-mode/mixed",
            "performatives/transfer/rcv-settle-mode/settled",
        ),
        "settled messages are dropped",
    ),
    Fault(
        "unsettled-deliveries-not-answered",
        (
            "definitions/snd-settle-mode/mixed",
            "performatives/transfer/settled/unset-first",
            "performatives/transfer/rcv-settle-mode/first",
            "definitions/rcv-settle-mode/first",
        ),
        "the broker sends no dispositions",
    ),
    Fault(
        "disposition-without-first",
        ("performatives/disposition/mandatory",),
        "the broker's dispositions lack first",
    ),
    Fault(
        "dispositions-under-the-wrong-role",
        ("performatives/disposition/directionality",),
        "the broker's dispositions name the role of the partner",
    ),
    Fault(
        "aborted-delivery-goes-on",
        (
            "transfers/large/abort",
            "performatives/transfer/more/aborted",
            "transfers/large/abort-discard",
            "performatives/transfer/aborted/discarded",
            "performatives/transfer/aborted/settled",
        ),
        "an aborting transfer changes nothing",
    ),
    Fault(
        "aborted-taken-for-the-end",
        (
            "transfers/large/abort-discard",
            "performatives/transfer/aborted/discarded",
            "performatives/transfer/aborted/payload",
        ),
        "an aborting transfer is the last of its message",
    ),
    Fault(
        "payload-of-abort-kept",
        ("performatives/transfer/aborted/payload",),
        "the payload of an aborting transfer is taken as a message",
    ),
    Fault(
        "aborted-delivery-disposed-of",
        ("performatives/transfer/aborted/settled",),
        "the broker sends a disposition for an aborted delivery",
    ),
    Fault(
        "aborted-tag-stays-in-use",
        ("performatives/transfer/aborted/settled",),
        "the tag of an aborted delivery cannot be used again",
    ),
    Fault(
        "more-counts-though-aborted",
        ("performatives/transfer/more/aborted",),
        "more on an aborting transfer counts",
    ),
    Fault(
        "state-on-transfer-refused",
        ("performatives/transfer/state/meaning",),
        "a transfer with a state is refused",
    ),
    Fault(
        "outcomes-not-applied",
        (
            "performatives/disposition/detached-links/applied",
            "links/detaching/by-delivery-id",
            "performatives/disposition/many-links",
            "performatives/disposition/settled",
            "performatives/disposition/last",
            "transfers/receiver-first",
        ),
        "whatever the outcome, messages go back to their node",
    ),
    Fault(
        "released-taken-for-accepted",
        ("performatives/disposition/detached-links/applied", "performatives/disposition/directionality"),
        "released messages are gone",
    ),
    Fault(
        "received-taken-for-accepted",
        ("transfers/states/non-terminal",),
        "a state that is not terminal counts as accepted",
    ),
    Fault(
        "non-terminal-state-settles",
        ("transfers/states/non-terminal",),
        "a state that is not terminal makes the broker settle",
    ),
    Fault(
        "terminal-state-not-settled-by-sender",
        ("transfers/states/terminal",),
        "the broker does not settle what has an outcome",
    ),
    Fault(
        "sender-settles-in-another-state",
        ("performatives/transfer/state/terminal", "transfers/states/terminal"),
        "the broker settles with another outcome than the one told",
    ),
    Fault(
        "sender-changes-its-mind",
        ("performatives/transfer/state/terminal",),
        "the broker settles twice, the second time with another outcome",
    ),
    Fault(
        "sender-settles-on-its-own",
        ("transfers/states/spontaneous", "transfers/settle-on-ttl"),
        "the broker settles what has outlived its time without asking",
    ),
    Fault(
        "settlement-by-receiver-ignored",
        ("performatives/disposition/settled", "transfers/receiver-first"),
        "settlement by the receiver is not heard",
    ),
    Fault(
        "settled-for-ever-is-not",
        ("links/settled-for-ever",),
        "a delivery that was settled can be released",
    ),
    Fault(
        "disposition-of-one-link-only",
        ("performatives/disposition/many-links",),
        "a disposition counts for one link",
    ),
    Fault(
        "disposition-role-ignored",
        ("performatives/disposition/directionality",),
        "a disposition counts for deliveries of both directions",
    ),
    Fault(
        "disposition-for-detached-link-ignored",
        (
            "performatives/disposition/detached-links",
            "performatives/disposition/detached-links/applied",
            "links/detaching/by-delivery-id",
        ),
        "a disposition does not count for links that are detached",
    ),
    Fault(
        "disposition-in-mid-delivery",
        ("performatives/disposition/incomplete",),
        "the broker sends a disposition for a delivery of which more is to come",
    ),
    Fault(
        "last-left-out-means-all",
        ("performatives/disposition/last",),
        "a disposition without last counts for all that follows",
    ),
    Fault(
        "ranges-mean-their-first",
        ("performatives/disposition/many-links", "definitions/sequence-no/arithmetic"),
        "a range of deliveries means the first of them",
    ),
    Fault(
        "ranges-compared-as-plain-numbers",
        ("definitions/sequence-no/arithmetic",),
        "ranges of delivery-ids do not wrap around",
    ),
    Fault(
        "unknown-resumed-delivery-taken",
        ("transfers/resuming/unknown-ignored", "performatives/transfer/resume/unknown"),
        "a resumed delivery that is not known is taken as new",
    ),
    Fault(
        "resumed-delivery-taken-twice",
        (
            "performatives/transfer/resume/no-payload",
            "performatives/transfer/resume/later-true",
            "performatives/transfer/resume/later-omitted",
        ),
        "a resumed delivery that was whole is taken again",
    ),
    Fault(
        "resume-has-to-be-repeated",
        ("performatives/transfer/resume/later-omitted",),
        "a later transfer of a resumed delivery without the resume flag is refused",
    ),
    Fault(
        "resume-must-not-be-repeated",
        ("performatives/transfer/resume/later-true",),
        "a later transfer of a resumed delivery with the resume flag is refused",
    ),
)
