# SPDX-License-Identifier: BSD-3-Clause
"""All figures, tables and headline numbers of the five papers. `oriel paper` draws its page from
this list, and docs/evidence.md has a row for each of its numbers."""

from __future__ import annotations

from oriel.paper.catalogue.collective_entries import COLLECTIVES
from oriel.paper.catalogue.epoch_entries import EPOCHS
from oriel.paper.catalogue.notified_entries import NOTIFIED_ACCESS
from oriel.paper.catalogue.quo_vadis_entries import QUO_VADIS
from oriel.paper.catalogue.synchronization_entries import SYNCHRONIZATION

PAPERS = (EPOCHS, SYNCHRONIZATION, NOTIFIED_ACCESS, QUO_VADIS, COLLECTIVES)
