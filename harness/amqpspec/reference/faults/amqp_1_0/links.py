"""Faults of links.

Knows: names, what they break, one sentence each. Must not know: how a fault is acted out.
"""

from __future__ import annotations

from amqpspec.reference.faults.fault import Fault

FAULTS = (
    Fault("attach-not-answered", ("links/establishing/answer",), "an attach is not answered"),
    Fault(
        "attach-under-another-name",
        ("links/establishing/answer", "links/names/length"),
        "the broker's attach has another name",
    ),
    Fault(
        "attach-answered-in-the-same-role",
        ("links/establishing/answer",),
        "the broker's attach has the role of the partner",
    ),
    Fault(
        "attach-without-handle",
        ("performatives/attach/mandatory",),
        "the broker's attach lacks the handle",
    ),
    Fault("long-names-refused", ("links/names/length",), "names of more than 255 octets are refused"),
    Fault(
        "own-handle-used-twice",
        ("performatives/attach/handle/free", "model/many-links"),
        "all links of the broker have handle 0",
    ),
    Fault(
        "highest-handle-taken",
        ("performatives/attach/handle/lowest",),
        "links get the highest handle that is free",
    ),
    Fault(
        "handle-max-of-partner-ignored",
        ("performatives/begin/handle-max/respected",),
        "links get handles beyond the partner's handle-max",
    ),
    Fault(
        "handles-have-to-be-alike",
        ("links/handles/differ", "definitions/handle/different", "performatives/attach/handle/lowest"),
        "the broker attaches with the partner's handle",
    ),
    Fault(
        "handles-sought-by-own-number",
        ("links/handles/differ", "definitions/handle/different"),
        "frames are sorted by the broker's own handles",
    ),
    Fault("eight-links-only", ("model/many-links",), "the ninth link of a session ends the session"),
    Fault(
        "handle-kept-after-detach",
        (
            "links/handles/until-detach",
            "performatives/detach/handle-freed",
            "definitions/handle/reuse",
            "links/detaching/fully-detached",
        ),
        "detach does not free the handle",
    ),
    Fault(
        "unattached-handles-passed-over",
        (
            "definitions/condition/unattached-handle",
            "links/handles/until-detach",
            "performatives/flow/handle/unattached",
            "sessions/errors/end",
        ),
        "frames with a handle that has no link are passed over",
    ),
    Fault(
        "link-alive-twice",
        (
            "sessions/link-on-one-session",
            "links/names/unique",
            "links/names/one-connection",
            "links/names/stolen",
            "definitions/condition/stolen",
        ),
        "a link can be attached twice at once",
    ),
    Fault(
        "one-name-one-link",
        ("links/names/one-connection", "links/names/unique"),
        "sender and receiver cannot have the same name",
    ),
    Fault(
        "stolen-link-told-as-forced",
        ("links/names/stolen", "definitions/condition/stolen"),
        "the link that was stolen is detached as by force",
    ),
    Fault(
        "stolen-link-not-closed",
        ("links/names/stolen",),
        "the link that was stolen is detached, not closed",
    ),
    Fault(
        "nodes-not-made",
        ("links/establishing/create-terminus",),
        "an address that names nothing is refused",
    ),
    Fault(
        "termini-told-as-asked-for",
        ("links/establishing/actual-properties", "links/establishing/adjust"),
        "the broker's attach repeats the terminus as it was asked for",
    ),
    Fault(
        "unknown-filters-refused",
        ("links/establishing/adjust",),
        "a link with a filter that is not understood is refused",
    ),
    Fault(
        "terminus-properties-not-told",
        ("links/establishing/actual-properties", "links/recovering/full-state"),
        "of a terminus, only the address is told",
    ),
    Fault(
        "terminus-of-partner-not-told",
        ("links/establishing/whose-terminus", "links/establishing/authority"),
        "the broker's attach leaves out the partner's terminus",
    ),
    Fault(
        "refused-attach-with-terminus",
        ("links/establishing/null-terminus", "links/recovering/no-record"),
        "an attach that is refused is answered with a terminus",
    ),
    Fault(
        "refused-attach-not-answered",
        ("links/establishing/null-terminus", "links/establishing/refused-detach"),
        "an attach that is refused is answered by detach alone",
    ),
    Fault(
        "refused-attach-not-detached",
        (
            "links/establishing/refused-detach",
            "performatives/attach/source/none",
            "links/recovering/no-record",
        ),
        "an attach that is refused is not followed by detach",
    ),
    Fault(
        "null-terminus-not-recovered",
        ("links/recovering/full-state",),
        "the state of a terminus is not told to who attaches without one",
    ),
    Fault(
        "old-source-kept-on-resume",
        ("links/establishing/authority", "links/reattaching/update"),
        "on resuming, the partner's new terminus is not taken",
    ),
    Fault("filter-ignored", ("model/entry-criteria",), "every message passes a filter"),
    Fault(
        "dynamic-names-repeat",
        ("links/establishing/actual-properties", "definitions/condition/resource-deleted"),
        "all nodes made on request are one",
    ),
    Fault(
        "dynamic-node-stays",
        ("definitions/condition/resource-deleted",),
        "a node made on request outlives its link",
    ),
    Fault(
        "links-to-deleted-node-stay",
        ("definitions/condition/resource-deleted",),
        "links to a node that is deleted stay up",
    ),
    Fault(
        "deleted-node-told-as-forced",
        ("definitions/condition/resource-deleted",),
        "links to a node that is deleted are detached as by force",
    ),
    Fault(
        "detach-not-answered",
        ("links/detaching/announce", "links/detaching/fully-detached", "links/closing/answer"),
        "a detach is not answered",
    ),
    Fault(
        "detach-without-handle",
        ("performatives/detach/mandatory",),
        "the broker's detach lacks the handle",
    ),
    Fault(
        "detach-without-description",
        ("performatives/detach/error",),
        "the error of a detach has no description",
    ),
    Fault(
        "closing-detach-answered-without-closed",
        ("links/closing/answer",),
        "a closing detach is answered by one that does not close",
    ),
    Fault(
        "every-detach-closes",
        (
            "links/detaching/fully-detached",
            "links/detaching/announce",
            "links/detaching/by-delivery-id",
            "performatives/disposition/detached-links",
            "performatives/disposition/detached-links/applied",
            "links/establishing/unsettled-state",
        ),
        "a detach is taken, and answered, as a closing one",
    ),
    Fault(
        "closed-link-remembered",
        ("performatives/detach/closed", "links/closing/answer"),
        "the terminus of a closed link stays",
    ),
    Fault(
        "failed-endpoint-works-on",
        (
            "links/errors/destroyed",
            "links/errors/errant-link",
            "definitions/condition/errant-link",
            "links/errors/detach-with-error",
        ),
        "an endpoint goes on to work after its detach for an error",
    ),
    Fault(
        "failed-links-not-resumed",
        ("links/errors/resume-unsettled", "links/errors/resume"),
        "a link that failed cannot be resumed, with or without a map",
    ),
    Fault(
        "failed-terminus-forgotten",
        ("links/errors/destroyed", "links/errors/resume"),
        "a detach for an error takes the terminus with it",
    ),
    Fault(
        "old-credit-kept",
        ("links/errors/destroyed", "performatives/detach/closed", "links/flow/initial-state"),
        "a link that is attached anew goes on with its old credit",
    ),
    Fault(
        "reattach-ignored",
        ("links/reattaching/update",),
        "what a second attach says of its terminus is not taken",
    ),
    Fault(
        "terminus-ends-with-detach",
        (
            "links/detaching/by-delivery-id",
            "performatives/disposition/detached-links",
            "performatives/disposition/detached-links/applied",
            "model/terminus-outlives",
            "transfers/resuming/unsettled-map",
            "links/establishing/unsettled-state",
        ),
        "a terminus lives as long as its link",
    ),
    Fault(
        "terminus-ends-with-session",
        (
            "model/terminus-outlives",
            "transfers/resuming/unsettled-map",
            "transfers/resuming/both",
            "links/recovering/full-state",
        ),
        "a terminus lives as long as its session",
    ),
    Fault(
        "unsettled-map-not-told",
        (
            "links/establishing/unsettled-state",
            "transfers/resuming/unsettled-map",
            "transfers/resuming/both",
            "model/terminus-outlives",
        ),
        "attach tells nothing of what is unsettled",
    ),
    Fault(
        "unsettled-map-lacks-one",
        ("transfers/resuming/unsettled-map",),
        "attach leaves out one of the unsettled deliveries",
    ),
    Fault(
        "unsettled-map-though-nothing-is",
        ("performatives/attach/unsettled/reattaching",),
        "attach has an empty map where nothing is unsettled",
    ),
    Fault(
        "unsettled-map-with-null-key",
        ("performatives/attach/unsettled/null-keys",),
        "the broker's unsettled maps have a null key",
    ),
    Fault(
        "remote-state-not-compared",
        ("performatives/attach/unsettled/compared",),
        "outcomes that an unsettled map tells are not applied",
    ),
    Fault(
        "nothing-resumed",
        (
            "transfers/resuming/both",
            "transfers/resuming/resume-flag",
            "transfers/resuming/incomplete/reduce",
            "performatives/attach/unsettled/resent",
            "performatives/attach/unsettled/compared",
            "performatives/transfer/resume/first",
            "performatives/attach/incomplete-unsettled/sender",
        ),
        "nothing is resumed",
    ),
    Fault(
        "resumed-without-resume-flag",
        (
            "transfers/resuming/resume-flag",
            "performatives/transfer/resume/first",
            "transfers/resuming/both",
            "transfers/resuming/incomplete/no-new",
        ),
        "resumed deliveries lack the resume flag",
    ),
    Fault(
        "every-delivery-resumed",
        ("performatives/transfer/resume/known-only", "transfers/resuming/target-only"),
        "every delivery has the resume flag",
    ),
    Fault(
        "unknown-tags-resumed",
        ("transfers/resuming/target-only", "performatives/transfer/resume/known-only"),
        "a tag that the source does not know is resumed as an empty message",
    ),
    Fault(
        "data-left-out-on-resume",
        ("transfers/resuming/omit-data",),
        "a delivery of which something was received is resumed without its data",
    ),
    Fault(
        "old-delivery-ids-live",
        ("transfers/resuming/delivery-ids",),
        "dispositions are applied to ids of a session that has ended",
    ),
    Fault(
        "what-the-receiver-lacks-stays",
        ("transfers/resuming/source-only", "performatives/attach/unsettled/resent"),
        "what only the source holds unsettled stays so",
    ),
    Fault(
        "what-the-sender-lacks-stays",
        ("transfers/resuming/target-only-settled",),
        "what only the target holds unsettled stays so",
    ),
    Fault(
        "incomplete-map-taken-for-complete",
        ("transfers/resuming/incomplete/no-evidence",),
        "what an incomplete map lacks is settled",
    ),
    Fault(
        "new-deliveries-beside-incomplete-map",
        (
            "transfers/resuming/incomplete/no-new",
            "performatives/attach/incomplete-unsettled/sender",
            "performatives/attach/incomplete-unsettled/reattach",
        ),
        "new deliveries go out beside an incomplete map",
    ),
    Fault(
        "incomplete-for-ever",
        ("transfers/resuming/incomplete/retry", "performatives/attach/incomplete-unsettled/reattach"),
        "after an incomplete map, the complete one is not believed",
    ),
    Fault(
        "attach-fits-no-frame",
        (
            "performatives/attach/unsettled/prefer-incomplete",
            "performatives/attach/unsettled/too-large",
            "performatives/open/max-frame-size/respected",
        ),
        "attach is as long as its unsettled map",
    ),
    Fault(
        "incomplete-map-told-as-complete",
        ("performatives/attach/unsettled/prefer-incomplete", "performatives/attach/unsettled/too-large"),
        "an unsettled map that was cut is told as complete",
    ),
    Fault(
        "large-map-ends-session",
        ("performatives/attach/unsettled/prefer-incomplete", "performatives/attach/unsettled/too-large"),
        "an unsettled map that does not fit ends the session",
    ),
    Fault(
        "snd-settle-mode-told-wrong",
        (
            "performatives/attach/snd-settle-mode/respected",
            "performatives/transfer/settled/mode-unsettled",
            "performatives/transfer/settled/mode-settled",
            "definitions/snd-settle-mode/unsettled",
            "definitions/snd-settle-mode/settled",
        ),
        "attach tells another sender settle mode than the one in use",
    ),
    Fault(
        "rcv-settle-mode-told-wrong",
        ("performatives/attach/rcv-settle-mode/respected", "definitions/rcv-settle-mode/first"),
        "attach tells another receiver settle mode than the one in use",
    ),
    Fault(
        "sender-without-initial-delivery-count",
        ("performatives/attach/initial-delivery-count/set",),
        "the broker's attach as a sender lacks the initial-delivery-count",
    ),
    Fault(
        "initial-delivery-count-of-receiver-taken",
        ("performatives/attach/initial-delivery-count/ignored", "links/flow/count-unspecified"),
        "a sender begins to count where its receiver says",
    ),
    Fault(
        "initial-delivery-count-taken-for-zero",
        ("links/flow/initial-delivery-count", "performatives/flow/delivery-count/receiver"),
        "a receiver begins to count at zero",
    ),
    Fault(
        "small-messages-only",
        ("performatives/attach/max-message-size/none",),
        "to a receiver without max-message-size, messages of 64 kB and more are not sent",
    ),
    Fault(
        "link-begins-with-credit",
        ("links/flow/initial-state", "links/flow/no-credit"),
        "a sender begins with a credit of one",
    ),
    Fault(
        "delivery-count-stands-still",
        (
            "links/flow/delivery-count",
            "performatives/flow/delivery-count/sender",
            "links/flow/delivery-limit",
        ),
        "a sender's delivery-count does not grow",
    ),
    Fault(
        "sender-tells-no-delivery-count",
        ("performatives/flow/delivery-count/sender", "links/flow/delivery-count"),
        "a sender's flows tell a delivery-count of zero",
    ),
    Fault(
        "delivery-count-taken-from-receiver",
        ("links/flow/delivery-count-sender-only", "links/flow/delivery-limit"),
        "a sender takes over the delivery-count of its receiver",
    ),
    Fault(
        "delivery-count-by-twos",
        ("performatives/flow/delivery-count/receiver",),
        "a receiver counts each delivery twice",
    ),
    Fault(
        "delivery-count-does-not-wrap",
        ("links/flow/delivery-count-wraps", "definitions/sequence-no/arithmetic"),
        "a receiver's delivery-count stops at its highest",
    ),
    Fault(
        "receiver-tells-no-delivery-count",
        (
            "performatives/flow/delivery-count/receiver",
            "links/flow/delivery-count-wraps",
            "links/flow/initial-delivery-count",
        ),
        "a receiver's flows tell a delivery-count of zero",
    ),
    Fault(
        "credit-ignored",
        (
            "links/flow/no-credit",
            "links/flow/credit-decreases",
            "links/synchronous-get",
            "links/stopping/credit-zero",
            "links/flow/count-unspecified",
            "links/flow/delivery-limit",
        ),
        "a sender needs no credit",
    ),
    Fault(
        "credit-one-too-many",
        (
            "links/flow/delivery-limit",
            "links/synchronous-get",
            "links/flow/link-credit-receiver-only",
            "links/flow/count-unspecified",
        ),
        "a sender takes one credit more than it was given",
    ),
    Fault(
        "credit-added-up",
        ("links/flow/credit-formula", "links/flow/count-unspecified", "links/stopping/credit-zero"),
        "credit is added to what is left",
    ),
    Fault(
        "credit-without-the-formula",
        ("links/flow/credit-formula", "links/flow/delivery-limit", "links/flow/delivery-count-sender-only"),
        "a sender's credit is the number in the flow",
    ),
    Fault(
        "unset-delivery-count-is-now",
        ("links/flow/count-unspecified",),
        "without delivery-count, credit counts from now",
    ),
    Fault(
        "credit-not-used-up",
        ("links/flow/credit-decreases", "links/synchronous-get", "performatives/flow/link-credit/sender"),
        "sending uses up no credit",
    ),
    Fault(
        "credit-zero-ignored",
        ("links/stopping/credit-zero", "links/flow/no-credit"),
        "a credit of zero does not stop a sender",
    ),
    Fault(
        "sender-chooses-its-credit",
        ("links/flow/link-credit-receiver-only",),
        "a sender that has used up its credit takes ten more",
    ),
    Fault(
        "sender-tells-no-credit",
        (
            "performatives/flow/link-credit/sender",
            "links/flow/credit-decreases",
            "links/flow/link-credit-receiver-only",
        ),
        "a sender's flows tell a credit of zero",
    ),
    Fault("available-made-up", ("performatives/flow/available/meaning",), "available is seven too many"),
    Fault(
        "waits-for-flow-after-available-zero",
        ("links/flow/available-zero",),
        "a sender that has told that nothing is available waits for another flow",
    ),
    Fault(
        "drain-ignored",
        ("links/flow/drain/behaviour", "links/flow/drain/empty", "links/synchronous-get/timed"),
        "drain changes nothing",
    ),
    Fault(
        "drain-not-told",
        ("links/flow/drain/empty", "links/flow/drain/behaviour", "links/synchronous-get/timed"),
        "a sender does not tell that it has drained",
    ),
    Fault(
        "drain-leaves-credit",
        ("links/flow/drain/empty", "links/flow/drain/behaviour", "links/synchronous-get/timed"),
        "drain leaves the credit",
    ),
    Fault(
        "drain-leaves-delivery-count",
        ("links/flow/drain/empty", "links/flow/drain/behaviour"),
        "drain leaves the delivery-count",
    ),
    Fault(
        "drain-mode-not-told",
        ("performatives/flow/drain/sender", "links/flow/drain/receiver-only"),
        "a sender's flows do not tell its drain mode",
    ),
    Fault(
        "drain-mode-left-at-once",
        ("links/flow/drain/receiver-only", "performatives/flow/drain/sender"),
        "a sender that has drained leaves drain mode",
    ),
)
