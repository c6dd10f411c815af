"""Clauses of other contracts: the paper that a reference names is this document or another one."""

import pytest

from softlookup.documents.definitions.find import find_definitions
from softlookup.documents.references.resolve import find_references

from .outlines import outline

BODY = """{title}

{opening}
1 Words. {words}
2 Fees. The fees are due.
3 Law. The law is English.
4 End. It ends.
"""
OPENING = "This Agreement is made between Tarn Limited and Fell Limited."


def statuses(words, *, title="SERVICE AGREEMENT", opening=OPENING):
    text = BODY.format(title=title, opening="0 Parties. " + opening, words=words)
    clauses = outline(text)
    found = find_references(text, clauses, find_definitions(text, clauses))
    return [(text[r.span.start : r.span.end], r.status) for r in found]


@pytest.mark.parametrize(
    "paper",
    [
        "the Facilities Agreement", "the Credit Agreement", "the Loan Agreement", "the Shareholders Agreement",
        "the Share Purchase Agreement", "the Prior Agreement", "the Original Agreement", "the ISDA Master Agreement",
        "the Lease", "the Head Lease", "the Principal Deed", "the Supply Contract", "the Policy", "the MSA",
        "the Terms and Conditions", "that certain Lease", "that Agreement", "another agreement", "that agreement",
        "such agreement", "any other contract", "the facilities agreement", "that Act", "the Tenant's Lease",
        "the Articles of Association", "Exhibit A to the Credit Agreement",
    ],
)  # fmt: skip
def test_a_clause_of_another_paper_is_external(paper):
    assert [status for _, status in statuses(f"Clause 2 of {paper} applies.")] == ["external"]


@pytest.mark.parametrize(
    ("title", "opening", "paper"),
    [
        ("SERVICE AGREEMENT", OPENING, "this Agreement"),
        ("SERVICE AGREEMENT", OPENING, "the Agreement"),
        ("SERVICE AGREEMENT", OPENING, "the Service Agreement"),
        ("SERVICE AGREEMENT", OPENING, "the service agreement"),
        ("LEASE", "This Lease is made between Tarn Limited and Fell Limited.", "the Lease"),
        ("OFFICE LEASE", "The parties agree as follows.", "the Lease"),
        ("DEED OF GUARANTEE", "This deed of guarantee is made by Tarn Limited.", "the Deed of Guarantee"),
        ("FACILITY", 'This Agreement (the "Facilities Agreement") is made with Tarn.', "the Facilities Agreement"),
        ("TERMS", 'You accept the following terms and conditions (the "Terms").', "the Terms"),
        (
            "TERMS",
            'The agreement entered into between you and us on these terms (the "Agreement") binds us.',
            "the Agreement",
        ),
        ("TERMS", '"Contract" means the contract between Tarn and the buyer made on these terms.', "the Contract"),
    ],
)
def test_a_clause_of_the_document_itself_is_found(title, opening, paper):
    found = statuses(f"Clause 2 of {paper} applies.", title=title, opening=opening)
    assert found == [("Clause 2", "resolved")]


@pytest.mark.parametrize(
    ("defining", "paper"),
    [
        ('Tarn and Fell made the Lease dated 1 May 2020 (the "Lease").', "the Lease"),
        ('The parties made a supply agreement dated 2 June 2021 (the "Agreement").', "the Agreement"),
        ('This form falls under the master agreement made on 3 March 2022 ("MSA").', "the MSA"),
        ('This addendum amends that certain office lease with Fell (the "Agreement").', "the Agreement"),
        ('"Lease" means the lease dated 9 May 2019 and made between Tarn and Fell.', "the Lease"),
        ('"Funding Terms" means the agreement between Tarn and the bank dated 4 July 2020.', "the Funding Terms"),
    ],
)
def test_a_defined_paper_with_a_date_is_another_one(defining, paper):
    found = statuses(f"Sections 2 and 3 of {paper} apply.", title="ADDENDUM", opening=defining)
    assert [status for _, status in found] == ["external", "external"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("The Head Lease clause 2 applies.", "external"),
        ("Under the Head Lease, clause 2 applies.", "external"),
        ("The Standard Contractual Clauses, clause 2, apply.", "external"),
        ("Subject to the Head Lease, clause 2 applies.", "resolved"),
        ("Under this Agreement, clause 2 applies.", "resolved"),
        ("The Agreement clause 2 applies.", "resolved"),
        ("See clause 2, Companies Act 2006.", "external"),
        ("See the Companies Act 2006. Clause 2 applies.", "resolved"),
        ("Under regulation (EU) 2016/679, articles 2 to 3 apply.", "external"),
        ("By regulation, articles 2 to 3 apply.", "resolved"),
        ("Articles 2 and 3 GDPR apply.", "external"),
        ("As clause 2 therein says.", "external"),
        ("Clause 2 and the Companies Act 2006 apply.", "resolved"),
    ],
)
def test_papers_and_statutes_beside_the_label(words, expected):
    assert {status for _, status in statuses(words)} == {expected}


def test_an_amendment_does_not_call_itself_by_the_name_of_what_it_amends():
    opening = 'This Amendment amends the Credit Agreement dated 1 May 2020 (the "Credit Agreement").'
    words = "Section 2 of the Credit Agreement is deleted. Section 3 of this Amendment stays."
    found = statuses(words, title="AMENDMENT NO. 2 TO CREDIT AGREEMENT", opening=opening)
    assert found == [("Section 2", "external"), ("Section 3", "resolved")]
