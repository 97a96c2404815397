"""tasks: crawls as saved tasks with schedules, run as processes of their own within the machine's budget.

Previous stage: `search`, which saved questions ask; next: `web` shows tasks. One service at a time works in a folder of
tasks (`TaskService`); the commands and the web page write what they wish into its book (`TaskBook`), and it does it.
"""

from periplus.tasks.book import TaskBook
from periplus.tasks.records import Question, Run, Task
from periplus.tasks.schedule import Schedule
from periplus.tasks.service import Budget, TaskService

__all__ = ["Budget", "Question", "Run", "Schedule", "Task", "TaskBook", "TaskService"]
