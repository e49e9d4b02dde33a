"""Bad input of an audit: every table that people have is read rightly, or refused with its row and column named."""

from __future__ import annotations

import time

import pytest

from audit_help import table_header
from chunkproof.audit import cells, claims, tables
from chunkproof.audit.model import Claim
from chunkproof.problems import Problem

HEAD = "| config | method | recall@1 | mrr@10 |\n|---|---|---|---|\n"
MEANINGS = {"config": "config", "method": "method", "recall@1": "recall@1", "mrr@10": "mrr@10"}


def read(text: str, form: str = "md", **given: object) -> tuple[list[Claim], list[str]]:
    (grid,) = tables.read(text, form, "t")
    return claims.claims_of(table_header(MEANINGS, **given), grid)


def figures(text: str, form: str = "md", **given: object) -> list[str]:
    return [claim.figure.plain for claim in read(text, form, **given)[0]]


@pytest.mark.parametrize(
    ("text", "plain", "decimals", "percent"),
    [
        ("0.730", "0.730", 3, False),
        (" .73 ", "0.73", 2, False),
        ("**0.730**", "0.730", 3, False),
        ("73.0%", "73.0", 1, True),
        ("73,0 %", "73.0", 1, True),
        ("0,730", "0.730", 3, False),
        ("126,7", "126.7", 1, False),
        ("1,160.5", "1160.5", 1, False),
        ("1.160,5", "1160.5", 1, False),
        ("1\u202f160,5", "1160.5", 1, False),
        ("1'160", "1160", 0, False),
        ("−0.020", "-0.020", 3, False),
        ("-0.0", "0.0", 1, False),
        ("0.854 ± 0.02", "0.854", 3, False),
        ("0.854 (±0.02)", "0.854", 3, False),
        ("0.900†", "0.900", 3, False),
    ],
)
def test_a_figure_is_read_as_it_was_meant(text: str, plain: str, decimals: int, percent: bool) -> None:
    figure = cells.read(text)
    assert (figure.plain, figure.decimals, figure.percent) == (plain, decimals, percent)


@pytest.mark.parametrize(
    "text", ["1,160", "abc", "0.7.3", "7.3e-1", "0.730 0.740", "1,16,0", "12:30", "0x1f", "½", "1.2,3.4"]
)
def test_what_may_be_read_in_two_ways_is_refused(text: str) -> None:
    with pytest.raises(cells.Unread):
        cells.read(text)


def test_a_comma_is_what_the_table_says_it_is() -> None:
    assert cells.read("1,160", whole=True).plain == "1160"
    assert cells.read("1,160", decimal=".").plain == "1160"
    assert cells.read("1,160", decimal=",").plain == "1.160"
    assert cells.read("1.160", decimal=",").plain == "1160"
    with pytest.raises(cells.Unread, match="decimal mark"):
        cells.read("0.73", decimal=",")


def test_dropped_zeros_are_put_back_where_the_table_says_so() -> None:
    assert cells.read("0.68", decimals=3).plain == "0.680"
    assert cells.read("1", decimals=3).plain == "1.000"
    assert cells.read("0.6805", decimals=3).plain == "0.6805"


@pytest.mark.parametrize(
    ("text", "places", "moved"), [("0.7300", 2, "73.00"), ("0.05", 2, "5"), ("1.0", 2, "100"), ("-0.004", 2, "-0.4")]
)
def test_a_point_is_moved_exactly(text: str, places: int, moved: str) -> None:
    assert cells.shifted(text, places) == moved


def test_bold_and_linked_cells_are_their_words() -> None:
    text = (
        HEAD + "| **fixed-128** | [bm25](#m) | __0.680__ | [0.786](x.html) |\n| `a \\| b` | ~~x~~ | *0.1* | `0.2` |\n"
    )
    found, _ = read(text)
    assert [str(claim.key) for claim in found[::2]] == ["fixed-128/bm25", "a | b/x"]
    assert [claim.figure.plain for claim in found] == ["0.680", "0.786", "0.1", "0.2"]


def test_a_byte_order_mark_is_no_part_of_the_first_column(tmp_path: object) -> None:
    from pathlib import Path

    path = Path(str(tmp_path)) / "t.csv"
    path.write_bytes("config,method,recall@1,mrr@10\na,b,0.5,0.6\n".encode("utf-8-sig"))
    assert figures(tables.read_text(path), "csv") == ["0.5", "0.6"]
    path.write_bytes("config\tmethod\trecall@1\tmrr@10\r\na\tb\t0,5\t0,6\r\n".encode("utf-16"))
    assert figures(tables.read_text(path), "tsv") == ["0.5", "0.6"]


def test_nothing_claimed_is_noted_and_not_counted() -> None:
    found, notes = read(HEAD + "| a | b | n/a | 0.5 |\n| **Fixed** | | | |\n| a | c | – | |\n")
    assert len(found) == 1
    assert "line 3, column 'recall@1': n/a claims nothing" in notes[0]
    assert "line 4: has no figures" in notes[1]


def test_what_stands_behind_plus_minus_is_said_not_to_be_checked() -> None:
    found, notes = read(HEAD + "| a | b | 0.50 ± 0.02 | 0.5 |\n")
    assert found[0].figure.plain == "0.50"
    assert "± is not checked" in notes[0]


@pytest.mark.parametrize(
    ("text", "form", "words"),
    [
        (HEAD + "| a | b | 1,160 | 0.5 |\n", "md", r"line 3, column 'recall@1': '1,160' may be read in two ways"),
        (HEAD + "| a | b | ca. 0.5 | 0.5 |\n", "md", r"line 3, column 'recall@1': 'ca. 0.5' is no figure"),
        (
            HEAD + "| a | b | 0.5 | 0.5 | 0.5 |\n",
            "md",
            r"line 3: has 5 cells, but there are 4 columns.*after column 'mrr@10'",
        ),
        (HEAD + "| a | b | 0.5 |\n", "md", r"line 3: has no cell for column 'mrr@10'"),
        (
            "| config | method | mrr@10 | MRR@10 |\n|-|-|-|-|\n| a | b | 1 | 2 |\n",
            "md",
            r"columns 3 and 4 are both called",
        ),
        ("config,method,recall@1,recall@1\na,b,1,2\n", "csv", r"columns 3 and 4 are both called 'recall@1'"),
        ("config,method,recall@1,mrr@10\na,b,1,2,3\n", "csv", r"line 2: has 5 cells"),
        ('config,method,recall@1,mrr@10\na,"b,1,2\n', "csv", r"cannot be read as CSV"),
        ('[{"config":"a","method":"b","mrr@10":1,"mrr@10":2}]', "json", r"column 'mrr@10' stands twice"),
        ('[{"config":"a","method":"b","recall@1":[1],"mrr@10":2}]', "json", r"row 1, column 'recall@1': holds list"),
        (HEAD + "|  | b | 0.5 | 0.5 |\n", "md", r"line 3, column 'config': is empty.*fill_down"),
        ("| config | method | recall@1 |\n|-|-|-|\n| a | b | 0.5 |\n", "md", r"no column 'mrr@10'; there are 'config'"),
        (
            "| config | method | recall@1 | mrr@10 | |\n|-|-|-|-|-|\n| a | b | 1 | 1 | 1 |\n",
            "md",
            r"column 5 has no name",
        ),
    ],
)
def test_a_table_that_cannot_be_read_is_refused_by_place(text: str, form: str, words: str) -> None:
    with pytest.raises(Problem, match=words):
        read(text, form)


def test_an_empty_cell_repeats_the_one_above_where_the_table_says_so() -> None:
    found, _ = read(HEAD + "| a | b | 0.5 | 0.6 |\n|  | c | 0.7 | 0.8 |\n", fill_down=True)
    assert [str(claim.key) for claim in found[::2]] == ["a/b", "a/c"]


PAGE = (
    "<p>…</p><table><thead><tr><th>config</th><th>method</th><th>recall@1</th><th>mrr@10</th></tr></thead>"
    "<tbody>{}</tbody></table>"
)


def test_a_name_that_spans_rows_of_a_page_stands_in_each() -> None:
    rows = "<tr><td rowspan=2>a</td><td>b</td><td><b>0.5</b></td><td><a href=x>0.6</a></td></tr>"
    rows += "<tr><td>c</td><td>0.7</td><td>0.8</td></tr>"
    found, _ = read(PAGE.format(rows), "html")
    assert [str(claim.key) for claim in found[::2]] == ["a/b", "a/c"]
    assert [claim.figure.plain for claim in found] == ["0.5", "0.6", "0.7", "0.8"]


@pytest.mark.parametrize(
    ("page", "words"),
    [
        (
            PAGE.format("<tr><td>a</td><td>b</td><td colspan=2>0.5</td></tr>"),
            r"row 1, column 'recall@1': '0.5' is a merged cell",
        ),
        (
            PAGE.format("<tr><td>a<td>b<td>0.5<td>0.6</tr>"),
            r"row 1, column 1: a cell is not closed",
        ),
        (
            PAGE.replace("<th>config</th><th>method</th>", "<th colspan=2>config</th>").format("<tr><td>a</td></tr>"),
            "merged cell",
        ),
        (PAGE.format("<tr><td rowspan=x>a</td></tr>"), r"rowspan is 'x'"),
    ],
)
def test_a_merged_figure_of_a_page_is_refused_by_place(page: str, words: str) -> None:
    with pytest.raises(Problem, match=words):
        read(page, "html")


def test_json_keeps_its_digits_and_knows_several_shapes() -> None:
    assert figures('[{"config":"a","method":"b","recall@1":0.50,"mrr@10":"0.60"}]', "json") == ["0.50", "0.60"]
    assert figures('[["config","method","recall@1","mrr@10"],["a","b",0.50,1.0]]', "json") == ["0.50", "1.0"]
    split = '{"columns":["config","method","recall@1","mrr@10"],"index":[0],"data":[["a","b",0.5,null]]}'
    assert figures(split, "json") == ["0.5"]


@pytest.mark.parametrize("form", ["md", "csv", "json"])
def test_a_hundred_thousand_rows_are_read_in_seconds(form: str) -> None:
    count = 100_000
    if form == "md":
        text = HEAD + "| fixed-128 | bm25 | 0.680 | 0.786 |\n" * count
    elif form == "csv":
        text = "config,method,recall@1,mrr@10\n" + "fixed-128,bm25,0.680,0.786\n" * count
    else:
        text = '[["config","method","recall@1","mrr@10"]' + ',["fixed-128","bm25",0.680,0.786]' * count + "]"
    start = time.perf_counter()
    found, _ = read(text, form)
    assert len(found) == 2 * count
    assert found[-1].line.endswith(str({"md": count + 2, "csv": count + 1, "json": count}[form]))
    assert time.perf_counter() - start < 30


def test_a_long_table_is_read_to_its_end_and_no_further() -> None:
    rows = "".join(f"| a | m{number} | 0.5 | 0.6 |\n" for number in range(50))
    grids = tables.read(f"words\n\n{HEAD}{rows}\nwords | and\n\n{HEAD}| a | last | **1** | 2 |\n", "md", "t")
    assert [len(grid.rows) for grid in grids] == [50, 1]
    assert [row[1] for row in grids[0].rows] == [f"m{number}" for number in range(50)]
    assert grids[0].lines[-1] == "line 54"
    assert grids[1].rows == (("a", "last", "1", "2"),)
