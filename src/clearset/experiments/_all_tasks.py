"""All tasks, by what they are called for."""

from collections.abc import Mapping

from clearset.experiments._ablations import ABLATIONS
from clearset.experiments._celeba import CELEBA
from clearset.experiments._churn import CHURN
from clearset.experiments._intent import INTENT, INTENT_LENGTH_MATCHED
from clearset.experiments._puzzles import PUZZLES
from clearset.experiments._recipes import RECIPES
from clearset.experiments._task import Task
from clearset.experiments._wine import WINE

TASKS: Mapping[str, tuple[Task, ...]] = {
    "puzzles": (PUZZLES,),
    "intent": (INTENT, INTENT_LENGTH_MATCHED),
    "celeba": (CELEBA,),
    "recipes": (RECIPES,),
    "wine": (WINE,),
    "churn": (CHURN,),
    "ablations": (ABLATIONS,),
}


def task_named(name: str) -> Task:
    """Return a task by the name of its files."""
    return next(task for tasks in TASKS.values() for task in tasks if task.name == name)
