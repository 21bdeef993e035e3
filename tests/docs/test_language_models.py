"""Test the tutorial that asks a chat endpoint, and the leaderboard of language models."""

import csv
import gzip
import json
import re
import runpy
from contextlib import contextmanager
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread

import pytest

from docs.written import written
from stb_gym import Threes, evaluate, strategy
from stb_gym.cli import main
from stb_gym.envs import make_turn
from stb_gym.games import GAMES
from stb_gym.text import VERSION, TextEnv, TextGame, grade_turns
from tests import every
from tests.docs.pages import DOCS
from tests.text.test_game import player, position_in
from tests.tutorials import FOLDER


@contextmanager
def endpoint(model):
    """Serve a model, a function from a prompt to an answer, as a chat endpoint; yield its URL and the requests.

    A RuntimeError of the model gives the status 500. Answers are streamed if the request has `"stream": true`.
    """
    requests, lock = [], Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with lock:
                requests.append((self.path, self.headers["Authorization"], body))
                try:
                    answer = model("\n\n".join(message["content"] for message in body["messages"]))
                except RuntimeError:
                    self.send_error(500)
                    return
            self.send_response(200)
            self.end_headers()
            message = {"role": "assistant", "content": answer}
            choice = {"index": 0, "finish_reason": "stop", "delta" if body.get("stream") else "message": message}
            reply = json.dumps({"object": "chat.completion.chunk", "choices": [choice]})
            self.wfile.write((f"data: {reply}\n\ndata: [DONE]\n\n" if body.get("stream") else reply).encode())

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1", requests
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def asked(capsys, tmp_path, monkeypatch):
    """Return a function that runs the tutorial on every question of a game and grades the answers."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    tutorial = runpy.run_path(str(FOLDER / "chat_endpoint.py"))

    def ask_and_grade(words, url):
        assert main(f"ask {words}".split()) == 0
        (tmp_path / "questions.jsonl").write_text(capsys.readouterr().out)
        tutorial["main"](url, "a model")
        errors = capsys.readouterr().err
        assert main(f"grade {words} --answers answers.jsonl --json".split()) == 0
        return json.loads(capsys.readouterr().out), errors

    return ask_and_grade


def test_the_program_ends_with_an_error_if_requests_fail(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "questions.jsonl").write_text('{"id": "a", "rules": "", "question": ""}\n')
    monkeypatch.setattr("sys.argv", ["chat_endpoint.py", "--url", "http://localhost:1/v1", "--model", "none"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(FOLDER / "chat_endpoint.py"), run_name="__main__")
    assert ended.value.code == 1
    assert capsys.readouterr().err.endswith("; run the program again\n")


def test_questions_whose_requests_fail_are_asked_in_the_next_run(asked):
    words, game = "threes --dice 3", Threes(dice=3)
    policy = strategy(game, "threes-only")
    plays = player(TextGame(game), policy)
    calls = []

    def model(prompt):
        calls.append(prompt)
        if len(calls) % 3 == 0 and failing:
            raise RuntimeError
        return plays(prompt)

    failing = True
    with endpoint(model) as (url, requests):
        first, errors = asked(words, url)
        questions = first["questions"]
        assert first["missing"] == questions // 3 > 0
        assert first["missing_mass"] > 0
        assert f"{questions} of {questions} questions, {first['missing']} without an answer" in errors
        assert "HTTP Error 500" in errors
        failing = False
        second, _ = asked(words, url)
    assert len(calls) == questions + first["missing"]
    path, key, body = requests[0]
    assert (path, key) == ("/v1/chat/completions", "Bearer secret")
    assert (body["model"], body["temperature"]) == ("a model", 0)
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert second["missing"] == 0
    assert second["regret"] == pytest.approx(evaluate(game, policy).regret, abs=1e-12)


LEADERBOARD = [*csv.DictReader((DOCS / "results/language_models.csv").read_text().splitlines())]
STRATEGY = {"perfect play": "optimal", "random play": "random"}
POLICIES = [row for row in LEADERBOARD if not row["model"]]
MASSES = ["illegal_mass", "unparsable_mass", "missing_mass"]


def legal_answers(game):
    """Yield (id, answer) for every legal move of every question."""
    for question in game.questions():
        [moves] = re.findall("^Legal moves: (.*)$", question["question"], re.MULTILINE)
        yield from ((question["id"], move) for move in moves.split("; "))


@pytest.mark.slow
@pytest.mark.parametrize("row", every(3, POLICIES), ids=lambda row: f"{row['name']}, {row['game']}")
def test_policies_on_the_leaderboard_have_the_regret_and_masses_that_it_lists(row):
    rules = GAMES[row["game"]]()
    policy = strategy(rules, STRATEGY.get(row["name"], row["name"]))
    game = TextGame(rules, list_moves=policy.ndim == 2)
    grade = game.grade(legal_answers(game)) if policy.ndim == 2 else game.measure(player(game, policy))
    summary = grade.summary()
    for name in ("regret", *MASSES):
        assert float(row[name]) == pytest.approx(summary[name], abs=1e-12)
    assert row["version"] == VERSION


PRETRAINED = [*csv.DictReader((DOCS / "results/pretrained_models.csv").read_text().splitlines())]
# The only answers of SmolLM2 that name a move by the rules of the page; all of them were read by hand.
READ_BY_HAND = {
    "The answer is 5.",
    "The answer is 3,5.",
    *(f'The move is "{move}".' for move in ("shut 1,2", "shut 1,3", "shut 1,4", "shut 2,7", "shut 2,3,5")),
}


def answers_of(row):
    """Return the answers of a pretrained model by the ids of their questions."""
    moves = "-moves" if row["moves"] == "yes" else ""
    with gzip.open(DOCS / f"results/smollm2-{row['game']}{moves}.jsonl.gz", "rt") as file:
        entries = [json.loads(line) for line in file]
    return {entry["id"]: [entry["answer"]] for entry in entries}


@pytest.mark.slow
@pytest.mark.parametrize("row", every(2, PRETRAINED), ids=lambda row: f"{row['game']} {row['wording']} {row['moves']}")
def test_the_answers_of_pretrained_models_are_graded_again(row):
    env = TextEnv(make_turn(GAMES[row["game"]]()), list_moves=row["moves"] == "yes", wording=row["wording"])
    summary = grade_turns(env, answers_of(row), int(row["turns"])).summary()
    for name in ("regret", "standard_error", "questions", *MASSES):
        assert float(row[name]) == pytest.approx(summary[name], abs=1e-9)
    assert summary["missing"] == 0
    assert row["version"] == VERSION


def read(text, identity, answer):
    """Return the move that an answer to a question names, or None."""
    action = text.parse(answer, text.position(*position_in(identity)))
    return None if action is None else text.answer(action)


@pytest.mark.slow
def test_answers_that_nobody_here_wrote_are_read_as_by_hand():
    moves = {}
    for row in PRETRAINED:
        text = TextGame(GAMES[row["game"]](), list_moves=row["moves"] == "yes", wording=row["wording"])
        for identity, [answer] in answers_of(row).items():
            if text.has_question(identity):
                moves[answer] = read(text, identity, answer)
    assert {answer for answer, move in moves.items() if move} == READ_BY_HAND
    assert all(move.removeprefix("shut ") in answer for answer, move in moves.items() if move)
    assert len(moves) > 55


def test_drawn_answers_are_read_as_by_hand_or_not_at_all():
    """Take 160 answers of SmolLM2, drawn at temperature 0.8; `named` is the move that a person reads in each."""
    texts = {name: TextGame(rules(), list_moves=True) for name, rules in GAMES.items()}
    moves = []
    for line in Path(__file__).with_name("drawn_answers.jsonl").read_text().splitlines():
        entry = json.loads(line)
        moves.append(read(texts[entry["game"]], entry["id"], entry["answer"]))
        assert moves[-1] in (None, entry["named"]), entry["answer"]
    assert (len(moves), sum(move is not None for move in moves)) == (160, 17)


def test_the_leaderboard_is_well_formed_and_on_the_page():
    page = written((DOCS / "language_models.md").read_text())
    for row in LEADERBOARD:
        assert re.search(rf"^\| \d+ \| {float(row['regret']):.2g} \| .* \| {row['name']}<br>", page, re.MULTILINE)
        assert sum(float(row[name]) for name in MASSES) <= 1
        assert date.fromisoformat(row["date"]) if row["model"] else not row["date"]
    assert len(POLICIES) == 6
