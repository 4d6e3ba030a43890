"""A single answer among many: a batch of one."""

from __future__ import annotations

import numpy as np

from butfor.explanation.explanation import Explanation
from butfor.explanation.explanations import Explanations


def as_batch(answer: Explanation) -> Explanations:
    """A single answer in columns. Its first answer is the given one."""
    ends = (answer.point_codes, answer.closest_codes, np.full(len(answer.space), np.nan))
    return Explanations(
        space=answer.space,
        rows=np.array([answer.row]),
        ranks=np.array([answer.rank]),
        table_rows=np.zeros(1, dtype=np.intp),
        factual_codes=answer.factual_codes[None],
        point_codes=next(end for end in ends if end is not None)[None],
        table=answer.factual,
        outputs_before=[answer.before],
        outputs_after=[answer.after],
        costs=np.array([answer.cost if answer.found else np.inf]),
        certificates=[answer.certificate],
        question=answer.question,
        model=answer.model,
        created=answer.created,
        sealed=answer.sealed,
        scores=[answer.score],
        words=answer.words,
        data_fingerprint=answer.data_fingerprint,
        meta=answer.meta,
    )
