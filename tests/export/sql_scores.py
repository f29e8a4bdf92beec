"""What queries find, as arrays."""

import numpy as np


def scored(database, sql, model, n):
    """Run a query, and return the estimates that it finds, (n, 1) or (n, classes); NaN where there are none."""
    database.script(sql.setup)
    link = model.as_model().link
    found = np.full((n, link.n_outputs), np.nan)
    places = {} if link.classes is None else {str(label): place for place, label in enumerate(link.classes.tolist())}
    for row in database.rows(sql.query):
        if link.n_outputs > 1:
            found[int(row[0]), places[str(_whole(row[1]))]] = row[2]
        else:
            found[int(row[0])] = row[-1]
    return found


def _whole(value):
    return int(value) if isinstance(value, float) else value
