"""The same metrics by ir-measures, which asks pytrec_eval: shown beside ours, never mixed with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chunkproof.audit.runs_read import ReadRun

NAME = "ir-measures"


def metrics(run: ReadRun, depths: Sequence[int]) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Each metric by tool, printed with seven decimals; and what there is to say of them."""
    try:
        import ir_measures
        from ir_measures import RR, R, nDCG
    except ImportError:
        return {}, ["ir-measures is not installed, so there is nothing to compare with: pip install 'chunkproof[runs]'"]
    qrels = [
        ir_measures.Qrel(query, document, grade)
        for query, grades in run.relevant.items()
        for document, grade in grades.items()
    ]
    scored = [
        ir_measures.ScoredDoc(query, document, score)
        for query, ranking in run.rankings.items()
        for document, score in ranking
        if query in run.relevant
    ]
    wanted: dict[str, Any] = {f"recall@{depth}": R @ depth for depth in depths}
    wanted |= {"mrr@10": RR @ 10, "ndcg@10": nDCG @ 10}
    found = ir_measures.calc_aggregate(list(wanted.values()), qrels, scored)
    shown = {name: {NAME: f"{found[measure]:.7f}"} for name, measure in wanted.items() if measure in found}
    return shown, ["ir-measures and trec_eval order equal scores by document name, descending"]
