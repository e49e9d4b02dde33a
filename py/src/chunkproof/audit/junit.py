"""An audit as JUnit XML, which CI systems show as they show tests."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence

from chunkproof.audit.model import DIFFERS, MISSING, REPRODUCED, Audit, Said, Verdict
from chunkproof.audit.report import other_data, why


def junit(audits: Sequence[Audit], allow_missing: bool) -> str:
    """One suite a claims file, one case a claim; what is missing is skipped where that is allowed, else a failure."""
    root = ET.Element("testsuites", name="chunkproof audit")
    for audit in audits:
        every: list[Verdict | Said] = [*audit.verdicts, *audit.sentences]
        wrong = audit.count(DIFFERS) + (0 if allow_missing else audit.count(MISSING)) + audit.other_data
        suite = ET.SubElement(
            root,
            "testsuite",
            name=audit.path,
            tests=str(len(every) + bool(audit.pinned)),
            failures=str(wrong),
            errors="0",
            skipped=str(audit.count(MISSING) if allow_missing else 0),
        )
        if audit.pinned:
            case = ET.SubElement(suite, "testcase", classname=audit.path, name="the data that the claims were made for")
            if audit.other_data:
                ET.SubElement(case, "failure", message=other_data(audit))
        for each in every:
            if isinstance(each, Verdict):
                name, claimed, because = f"{each.claim.key} {each.claim.metric}", each.claim.figure.text, why(each)
                group = f"{audit.path}.{each.claim.table}"
            else:
                name, claimed, because, group = each.quote, each.says, each.reason, f"{audit.path}.sentences"
            case = ET.SubElement(suite, "testcase", classname=_printable(group), name=_printable(name))
            if each.verdict == MISSING and allow_missing:
                ET.SubElement(case, "skipped", message=_printable(because))
            elif each.verdict != REPRODUCED:
                text = f"claimed {claimed}, recomputed {each.digits or 'nothing'}; {because}"
                ET.SubElement(case, "failure", message=_printable(text))
    ET.indent(root, " ")
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _printable(text: str) -> str:
    """Without the control characters that XML has no way to write."""
    return "".join(character if character in "\t\n" or character >= " " else "�" for character in text)
