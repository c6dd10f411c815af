"""EDGAR submissions: members, their choice, old 80-column text with pages."""

from __future__ import annotations

import pytest

from softlookup.documents.readers import ReadOptions
from softlookup.documents.readers.edgar import is_submission, read_edgar
from softlookup.documents.tree.structure import build_clauses
from softlookup.errors import DocumentError

SUBMISSION = (
    "<SEC-DOCUMENT>0000000000-01-000001.txt\n<SEC-HEADER>\n</SEC-HEADER>\n<DOCUMENT>\n<TYPE>8-K\n<SEQUENCE>1\n<TEXT>\n"
    + "Current report. " * 90
    + "\n</TEXT>\n</DOCUMENT>\n<DOCUMENT>\n<TYPE>EX-10.1\n<SEQUENCE>2\n<DESCRIPTION>LOAN AGREEMENT\n<TEXT>\n"
    "1. Loan. The bank lends ten.\n\n2. Interest. Two per cent.\n</TEXT>\n</DOCUMENT>\n"
    "<DOCUMENT>\n<TYPE>EX-99.1\n<TEXT>\nPress release\n</TEXT>\n</DOCUMENT>\n"
)


def test_edgar_takes_the_contract_and_accounts_for_the_rest():
    assert is_submission(SUBMISSION)
    result = read_edgar(SUBMISSION)
    assert "The bank lends ten" in result.text
    assert "Current report" not in result.text
    assert result.text in SUBMISSION
    assert "choose another with --member EX-99.1" in result.coverage.notes[0]
    assert sorted(row.unit for row in result.coverage.skipped) == ["8-K", "EX-99.1", "header of the submission"]
    assert result.coverage.complete


def test_edgar_without_members_is_refused():
    with pytest.raises(DocumentError, match="<DOCUMENT>"):
        read_edgar("<SEC-DOCUMENT>\n<DOCUMENT>\nnothing")


def member(kind: str, body: str, sequence: int = 1, **fields: str) -> str:
    head = f"<TYPE>{kind}\n<SEQUENCE>{sequence}\n" + "".join(f"<{k.upper()}>{v}\n" for k, v in fields.items())
    return f"<DOCUMENT>\n{head}<TEXT>\n{body}\n</TEXT>\n</DOCUMENT>\n"


def submission(*members: str, header: str = "<SEC-HEADER>\n</SEC-HEADER>\n") -> str:
    return "<SEC-DOCUMENT>0000000000-02-000002.txt\n" + header + "".join(members) + "</SEC-DOCUMENT>\n"


LOAN = "1. Loan. The bank lends ten.\n\n2. Interest. Two per cent.\n"
LEASE = "1. Lease. The owner lets a boat to the tenant for one year.\n\n2. Rent. Forty.\n"
FILING = submission(
    member("8-K", "Current report. " * 50),
    member("EX-10.1", LOAN, 2, filename="loan.txt"),
    member("EX-10.2", LEASE, 3, description="LEASE OF A BOAT"),
    member("GRAPHIC", "begin 644 logo.gif\nM1234\nend", 4, filename="logo.gif"),
    member("EX-101.INS", "<XBRL>\n<xbrl/>\n</XBRL>", 5, filename="x.xml"),
)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("EX-10.1", "The bank lends"), ("ex-10.2", "lets a boat"), ("loan.txt", "The bank lends"),
        ("3", "lets a boat"), ("#2", "The bank lends"), ("lease of a boat", "lets a boat"), ("8-K", "Current report"),
    ],
)  # fmt: skip
def test_a_member_can_be_chosen(asked, words):
    result = read_edgar(FILING, (), ReadOptions(member=asked))
    assert words in result.text
    assert sum(other in result.text for other in ("The bank lends", "lets a boat", "Current report")) == 1


def test_an_unknown_member_is_refused_with_the_list():
    with pytest.raises(DocumentError, match=r"no member EX-10\.7") as raised:
        read_edgar(FILING, (), ReadOptions(member="EX-10.7"))
    for name in ("8-K (sequence 1)", "EX-10.1 (sequence 2)", "EX-10.2 (sequence 3)"):
        assert name in raised.value.remedy
    assert "GRAPHIC" not in raised.value.remedy


def test_a_name_that_two_members_share_is_refused():
    filing = submission(member("EX-99.1", LOAN, 1), member("EX-99.1", LEASE, 2))
    with pytest.raises(DocumentError, match="2 of the submission"):
        read_edgar(filing, (), ReadOptions(member="EX-99.1"))
    assert "lets a boat" in read_edgar(filing, (), ReadOptions(member="2")).text


def test_members_without_text_are_named_and_cannot_be_chosen():
    result = read_edgar(FILING)
    assert {row.unit: row.reason for row in result.coverage.skipped}["GRAPHIC logo.gif"] == "a picture"
    assert {row.unit: row.reason for row in result.coverage.skipped}["EX-101.INS x.xml"] == "XBRL data"
    with pytest.raises(DocumentError, match="a picture"):
        read_edgar(FILING, (), ReadOptions(member="GRAPHIC"))
    with pytest.raises(DocumentError, match="packed data"):
        read_edgar(submission(member("EX-10.1", "<PDF>\nbegin 644 a.pdf\nM123\nend\n</PDF>")))


def test_every_character_of_the_filing_is_in_one_row():
    result = read_edgar(FILING)
    assert result.coverage.rows[0].characters == len(result.text)
    bodies = {row.unit: row.characters_aside for row in result.coverage.skipped}
    assert bodies["EX-10.1 loan.txt"] == len(LOAN) + 1
    assert bodies["header of the submission"] == FILING.index("<DOCUMENT>")


def test_a_submission_that_is_cut_short_is_only_partly_read():
    cut = FILING[: FILING.index("the tenant for")]
    result = read_edgar(cut, (), ReadOptions(member="EX-10.2"))
    assert not result.coverage.complete
    assert any("cut short" in note for note in result.coverage.notes)
    whole = read_edgar(cut, (), ReadOptions(member="EX-10.1"))
    assert whole.coverage.complete


def test_the_announced_number_of_members_is_compared():
    header = "<SEC-HEADER>\nPUBLIC DOCUMENT COUNT:\t\t11\n</SEC-HEADER>\n"
    notes = read_edgar(submission(member("EX-10", LOAN), header=header)).coverage.notes
    assert any("announces 11 members, the file holds 1" in note for note in notes)


def test_the_envelope_of_old_filings_is_no_text():
    filing = "-----BEGIN PRIVACY-ENHANCED MESSAGE-----\nMIC-Info: RSA\n abc==\n\n" + submission(
        member("EX-10", "1. Fee.\n- --------\nTen.\n\n2. Term. A year.")
    )
    assert is_submission(filing)
    assert read_edgar(filing).text.startswith("1. Fee.\n--------\nTen.")


def wrapped(words: str, width: int = 72) -> str:
    import textwrap

    return "\n".join(textwrap.wrap(words, width))


def paged() -> str:
    """Three pages; the first break cuts a sentence, the second stands between two clauses."""
    first = wrapped("1. Repairs. " + "The yard repairs the hull of every boat that the owner brings. " * 12)
    second = wrapped("of the yard. " + "The owner pays for the paint and for the work on the mast. " * 12)
    third = "2. Fees. " + wrapped("The fee is ten for every day on which a boat is at the yard. " * 10)
    cut = first[: first.rindex(" hull")]
    return f"{cut} owned by the owners\n\n{'1':>72}\n<PAGE>\n\n{second}\n\n{'2':>40}\n<PAGE>\n\n{third}\n\n{'3':>40}\n"


def test_pages_of_old_text_are_a_map_and_not_paragraphs():
    result = read_edgar(submission(member("EX-10.1", paged())))
    assert result.coverage.pages == 3
    assert "<PAGE>" not in result.text
    assert "owned by the owners\nof the yard" in result.text
    assert "mast.\n\n2. Fees." in result.text
    assert [(a.text, a.kind, a.page) for a in result.aside] == [
        ("1", "footer", 1),
        ("2", "footer", 2),
        ("3", "footer", 3),
    ]
    assert [b.page for b in result.blocks] == [1, 3]
    assert [(c.number, c.page) for c in build_clauses(result.text, result.blocks)] == [("1", 1), ("2", 3)]
    assert result.coverage.rows[0].characters_aside == 3


def test_running_lines_go_aside_only_when_they_recur():
    pages = [wrapped(f"The yard repairs the boat number {'I' * page} of the owner. " * 20) for page in range(1, 6)]
    recurring = "\n\n<PAGE>\n          BOAT SERVICES (CONTINUED)\n\n".join(pages)
    result = read_edgar(submission(member("EX-10.1", recurring)))
    assert "CONTINUED" not in result.text
    assert [a.text for a in result.aside] == ["BOAT SERVICES (CONTINUED)"] * 4
    once = recurring.replace("BOAT SERVICES (CONTINUED)", "SCHEDULE OF FEES", 1).replace("(CONTINUED)", "", 1)
    assert "SCHEDULE OF FEES" in read_edgar(submission(member("EX-10.1", once))).text


def test_column_tables_stay_lines():
    table = (
        "<TABLE>\n<CAPTION>\n     Boat         Fee\n     ----         ---\n<S>          <C>\n"
        "     Cutter       10\n     Yawl         20\n</TABLE>"
    )
    text = wrapped("The yard charges the fees of this list for every boat. " * 20)
    result = read_edgar(submission(member("EX-10.1", f"{text}\n\n{table}\n\n{text}")))
    assert not any(tag in result.text for tag in ("<TABLE>", "<S>", "<CAPTION>"))
    cells = [result.text[b.span.start : b.span.end] for b in result.blocks if b.kind == "table_cell"]
    assert cells == ["Boat         Fee", "----         ---", "Cutter       10", "Yawl         20"]
    assert result.coverage.counts.tables == 1


def test_html_members_are_read_as_html():
    page = "<HTML><BODY><P>1. Term. One <B>year</B>.</P><P STYLE='display:none'>secret</P></BODY></HTML>"
    result = read_edgar(submission(member("EX-10.1", page)))
    assert result.text == "1. Term. One year."
    assert [a.text for a in result.aside] == ["secret"]
    assert result.coverage.rows[0].unit == "EX-10.1"


def test_the_same_bytes_give_the_same_result():
    assert read_edgar(FILING) == read_edgar(FILING)


def test_one_exhibit_as_the_archive_hands_it_out():
    exhibit = member("EX-10.1", "<HTML><BODY><P>1. Term. A year.</P></BODY></HTML>", 2, filename="a.htm")
    assert is_submission(exhibit)
    result = read_edgar(exhibit)
    assert (result.text, len(result.coverage.rows)) == ("1. Term. A year.", 1)
    assert not is_submission("The <DOCUMENT> tag\n<TYPE>")
