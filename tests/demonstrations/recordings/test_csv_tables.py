"""CSV tables: what is accepted, and where each fault is said to be."""

import csv

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icl_core.demonstrations.recordings import csv_tables
from icl_core.demonstrations.recordings.csv_tables import CsvFile
from icl_core.errors import InputError

SCHEMA = pa.schema(
    [
        pa.field("id", pa.int32(), nullable=False),
        pa.field("x", pa.float64(), nullable=False),
        pa.field("gap", pa.float64()),  # may be empty
        pa.field("lanes", pa.string(), nullable=False),
    ]
)


def written(folder, text):
    path = folder / "rows.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def fault(folder, text):
    """The sentence with which the file is refused."""
    path = written(folder, text)
    with pytest.raises(InputError) as caught:
        CsvFile(path, SCHEMA).read()
    sentence = str(caught.value)
    assert sentence.startswith(f"{path}:") and "\n" not in sentence and "; " in sentence
    return sentence


def test_types_are_those_of_the_schema_and_columns_may_stand_anywhere(tmp_path):
    text = "lanes,more,gap,x,id\n3;4,?,,2.5,7\n5,?,1e2, -1 ,8\n"
    table = CsvFile(written(tmp_path, text), SCHEMA).read()
    assert table.schema == SCHEMA
    assert table.to_pydict() == {
        "id": [7, 8],
        "x": [2.5, -1.0],
        "gap": [None, 100.0],
        "lanes": ["3;4", "5"],
    }


def test_windows_files_with_mark_and_alias(tmp_path):
    text = "\ufeffidd, x ,gap,lanes\r\n\r\n1,2,3,4\r\n"
    table = CsvFile(written(tmp_path, text), SCHEMA, {"idd": "id"}).read()
    assert table.to_pylist() == [{"id": 1, "x": 2.0, "gap": 3.0, "lanes": "4"}]


@pytest.mark.parametrize("cell", ["nan", "NaN", "", "inf", "-inf", "NULL", "fast", "1.2.3"])
def test_a_cell_that_is_no_finite_number(tmp_path, cell):
    # an empty line before it: an editor counts it, Arrow does not
    sentence = fault(tmp_path, f"id,x,gap,lanes\n1,2,3,4\n\n2,{cell},3,4\n3,4,5,6\n")
    assert "line 4, column 'x': expected a finite number, found" in sentence
    assert repr(cell) in sentence if cell else "an empty cell" in sentence


@pytest.mark.parametrize("cell", ["2.0", "two", "99999999999", "", "nan"])
def test_a_cell_that_is_no_whole_number(tmp_path, cell):
    sentence = fault(tmp_path, f"id,x,gap,lanes\n1,2,3,4\n{cell},2,3,4\n")
    assert "line 3, column 'id': expected a whole number" in sentence


def test_where_a_cell_may_be_empty_it_may_still_not_be_a_word(tmp_path):
    sentence = fault(tmp_path, "id,x,gap,lanes\n1,2,nan,4\n2,2,far,4\n")
    assert "line 3, column 'gap'" in sentence and "'far'" in sentence


def test_the_first_of_several_faults_is_fault(tmp_path):
    assert "line 2, column 'x'" in fault(tmp_path, "id,x,gap,lanes\n1,a,3,4\nb,2,3,4\n")
    assert "line 2, column 'x'" in fault(tmp_path, "id,x,gap,lanes\n1,nan,3,4\n,2,3,4\n")


def test_a_missing_column_and_the_one_that_it_was_renamed_to(tmp_path):
    assert "rename 'X'" in fault(tmp_path, "id,X,gap,lanes\n1,2,3,4\n")
    assert "a column 'lanes'" in fault(tmp_path, "id,x,gap,laneIds\n1,2,3,4\n")
    assert "rename 'laneIds'" in fault(tmp_path, "id,x,gap,laneIds\n1,2,3,4\n")
    assert "add the column" in fault(tmp_path, "id,gap,lanes,velocity\n1,2,3,4\n")
    assert "'x' once, found it 2 times" in fault(tmp_path, "id,x,gap,lanes,x\n1,2,3,4,5\n")


@pytest.mark.parametrize("text", ["id,x,gap,lanes", "id,x,gap,lanes\n", "id,x,gap,lanes\n\n\n"])
def test_no_rows(tmp_path, text):
    assert "at least one row" in fault(tmp_path, text)


def test_files_that_are_no_tables(tmp_path):
    assert "an empty file" in fault(tmp_path, "")
    assert "line 3: expected 4 cells" in fault(tmp_path, "id,x,gap,lanes\n1,2,3,4\n2,2,3")
    assert "line 3: expected text in UTF-8" in fault(
        tmp_path, b"id,x,gap,lanes\n1,2,3,4\n2,2,3,\xff\n"
    )
    with pytest.raises(InputError, match=r"none\.csv: expected a CSV file, found no such file"):
        CsvFile(tmp_path / "none.csv", SCHEMA)


def test_a_fault_beyond_the_first_block(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_tables, "BLOCK", 1 << 10)
    rows = [f"{k},{k / 2},,1" for k in range(1000)]
    rows[900] = "900,slow,,1"
    assert "line 902, column 'x'" in fault(tmp_path, "\n".join(["id,x,gap,lanes", *rows]))
    rows[900] = "900,nan,,1"
    assert "line 902, column 'x'" in fault(tmp_path, "\n".join(["id,x,gap,lanes", *rows]))


def test_a_check_of_ones_own_tells_the_first_row_of_the_file(tmp_path):
    file = CsvFile(written(tmp_path, "id,x,gap,lanes\n1,2,3,4\n2,0.0,3,4\n3,0,3,4\n"), SCHEMA)
    x = file.read()["x"].to_numpy()
    file.check(x >= 0, "x", "", "")
    with pytest.raises(InputError, match=r"line 3, column 'x': expected more, found '0\.0'; add"):
        file.check(x > 0, "x", "more", "add")
    order = np.array([2, 1, 0])  # sorted elsewhere: the row is still that of the file
    with pytest.raises(InputError, match="line 3"):
        file.check(x[order] > 0, "x", "more", "add", rows=order)


@given(
    st.lists(
        st.tuples(
            st.integers(-(2**31), 2**31 - 1), st.floats(allow_nan=False, allow_infinity=False)
        ),
        min_size=1,
        max_size=20,
    )
)
def test_numbers_come_back_as_they_were_written(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("csv") / "rows.csv"
    with open(path, "w", newline="") as file:
        csv.writer(file).writerows([SCHEMA.names, *((k, repr(x), "", "1") for k, x in rows)])
    table = CsvFile(path, SCHEMA).read()
    assert table["id"].to_pylist() == [k for k, _ in rows]
    assert table["x"].to_pylist() == [x for _, x in rows]
