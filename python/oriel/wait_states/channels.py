# SPDX-License-Identifier: BSD-3-Clause
"""What ranks send and receive, matched in the order of both."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from typing import Generic, TypeVar

_Sent = TypeVar("_Sent")
_Received = TypeVar("_Received")


class Channels(Generic[_Sent, _Received]):
    """By channel, what has no match yet. By clocks that differ a receipt may come first."""

    def __init__(self) -> None:
        self._sent: dict[tuple, deque[_Sent]] = defaultdict(deque)
        # Each with the number of those that it has yet to be matched with.
        self._received: dict[tuple, deque[tuple[_Received, int]]] = defaultdict(deque)

    def send(self, channel: tuple, sent: _Sent) -> Iterator[tuple[_Sent, _Received]]:
        """The matches that are now known."""
        self._sent[channel].append(sent)
        return self._matches(channel)

    def receive(
        self, channel: tuple, received: _Received, number: int = 1
    ) -> Iterator[tuple[_Sent, _Received]]:
        """The matches that are now known. `number`: sent ones in this receipt."""
        self._received[channel].append((received, number))
        return self._matches(channel)

    def _matches(self, channel: tuple) -> Iterator[tuple[_Sent, _Received]]:
        sent, waiting = self._sent[channel], self._received[channel]
        while sent and waiting:
            received, number = waiting.popleft()
            if number > 1:
                waiting.appendleft((received, number - 1))
            yield sent.popleft(), received
