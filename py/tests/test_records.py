"""Spec 02: what is JSON, and canonical bytes."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chunkproof import records

BAD = [
    b"", b" ", b"nul", b"{", b"[1,]", b"{'a':1}", b'{"a":1,}', b"[1 2]", b"01", b"1.", b".5", b"+1", b"0x10", b"NaN",
    b"Infinity", b"-Infinity", b"[NaN]", b'"\t"', b'"\\x"', b'"\\u12"', b"\xef\xbb\xbf{}",
    b'"\xff"', b'"\xc0\x80"', b'"\xed\xa0\x80"', b"[] []", b"/**/[]",
    b"\xa0[]", b'"\\u00e"', b"-", b"1e", b"[1]]", b"{1:2}", b'{"a"}',
]  # fmt: skip
#: JSON by its grammar, and refused all the same.
REFUSED = [
    b"1e400", b"-1e400", b"9" * 400, b'{"a":1,"a":1}', b'[{"a":1,"\\u0061":2}]', b'{"a":[1e400],"b":{"c":0,"c":0}}',
]  # fmt: skip


@pytest.mark.parametrize("line", BAD)
def test_what_is_not_json_is_refused(line):
    with pytest.raises(records.Unreadable):
        records.read(line)


@pytest.mark.parametrize("line", REFUSED)
def test_what_the_grammar_allows_may_still_be_refused(line):
    with pytest.raises(records.Unacceptable):
        records.read(line)
    with pytest.raises(records.Unacceptable):
        records.read(b"[" * 100_000 + line + b"]" * 100_000)
    with pytest.raises(records.Unreadable):
        records.read(line + b" x")


DEEP = b"[" * 100_000 + b"]" * 100_000


@pytest.mark.parametrize("fault", [b'"x":0,"x":1', b'"x":{"y":0,"y":1}', b'"x":1e400', b'"x":[-1e999]', b'"x":' + DEEP])
@pytest.mark.parametrize(
    ("own", "name"),
    [
        (b'"id":"a"', "a"),
        (b'"i\\u0064":"a"', "a"),
        (b'"id":"a","more":{"id":"b","id":"c"}', "a"),
        (b'"id":"a","id":"a"', None),
        (b'"id":"a","i\\u0064":"b"', None),
        (b'"id":["a"],"id":"b"', None),
        (b'"id":"a","id":"b","id":"c"', None),
        (b'"id":["a"]', None),
        (b'"more":{"id":"a"}', None),
    ],
)
def test_a_line_that_is_refused_keeps_its_id_unless_that_stands_twice(fault, own, name):
    for members in (own + b"," + fault, fault + b"," + own):
        with pytest.raises(records.Unacceptable) as refused:
            records.read(b"{" + members + b"}")
        found = refused.value.head.get("id")
        assert (found if isinstance(found, str) else None) == name


@pytest.mark.parametrize("line", [*REFUSED[:3], REFUSED[4], DEEP, b'[{"id":"a"},1e400]'])
def test_what_is_no_object_has_no_id(line):
    with pytest.raises(records.Unacceptable) as refused:
        records.read(line)
    assert refused.value.head == {}


@pytest.mark.parametrize("line", [b"[,]", b"[]]", b"[", b"[[],]", *BAD[2:]])
def test_the_reader_for_deep_nesting_knows_the_same_grammar(line):
    with pytest.raises((records.Unreadable, UnicodeDecodeError)):
        records._outermost("[" * 70 + line.decode() + "]" * 70)


def test_every_number_is_the_nearest_double():
    assert records.read(b"[5, 5.0, 5e0, -0, 1e-400, 9007199254740993]") == [5.0, 5.0, 5.0, 0.0, 0.0, 2.0**53]


def test_lone_surrogates_are_read_for_the_caller_to_refuse():
    assert records.read(b'"\\ud800"') == "\ud800"


def test_deep_nesting_still_has_an_id():
    deep = 100_000
    line = b'{"op":"x","id":"a\\u0062","y":' + b"[" * deep + b'{"id":"no"}' + b"]" * deep + b"}"
    with pytest.raises(records.Unacceptable) as refused:
        records.read(line)
    assert refused.value.head["id"] == "ab"


def test_long_numbers_take_no_time():
    start = time.monotonic()
    records.read(b"0." + b"1" * 1_000_000)
    with pytest.raises(records.Unacceptable):
        records.read(b"1" * 1_000_000)
    assert time.monotonic() - start < 5


JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
)


@given(JSON)
def test_reading_gives_back_what_was_written(value):
    assert records.read(json.dumps(value).encode()) == value
    assert records._outermost(f'{{"x":{json.dumps(value, indent=1)},"id":"\\u00e9"}}')["id"] == "é"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e-7, "1e-7"),
        (1e20, "100000000000000000000"),
        (1e21, "1e+21"),
        (-0.0, "0"),
        (1.0, "1"),
        (0.000001, "0.000001"),
        (5e-324, "5e-324"),
        ({"b": 1, "a": "é\n\u2028"}, '{"a":"é\\n\u2028","b":1}'),
        ({"\ue000": 1, "\U0001f600": 2}, '{"\U0001f600":2,"\ue000":1}'),
    ],
)
def test_canonical(value, text):
    assert records.canonical(value) == text.encode()


def test_digest():
    assert records.digest({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
