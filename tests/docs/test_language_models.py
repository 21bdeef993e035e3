"""The tutorial that asks a chat endpoint, and the leaderboard of language models."""

import json
import runpy
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread

import pytest

from stb_gym import ShutTheBox, Threes, evaluate, strategy
from stb_gym.cli import main
from stb_gym.text import TextGame
from tests.test_text import player
from tests.tutorials import FOLDER


@contextmanager
def endpoint(model):
    """Serve a model, a function from a prompt to an answer, as a chat endpoint; yield its URL and the requests.

    A request for which the model raises an error fails with the status 500.
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
            self.wfile.write(json.dumps({"choices": [{"message": {"content": answer}}]}).encode())

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
    """Return a function that asks an endpoint every question of a game by the tutorial, and grades the answers."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    tutorial = runpy.run_path(str(FOLDER / "chat_endpoint.py"))

    def ask_and_grade(words, url):
        assert main(f"ask {words}".split()) == 0
        (tmp_path / "questions.jsonl").write_text(capsys.readouterr().out)
        tutorial["main"](url, "a model")
        said = capsys.readouterr().err
        assert main(f"grade {words} --answers answers.jsonl --json".split()) == 0
        return json.loads(capsys.readouterr().out), said

    return ask_and_grade


GAMES = {"shut-the-box --tiles 6": ShutTheBox(tiles=6), "threes --dice 3": Threes(dice=3)}


@pytest.mark.parametrize(("words", "name"), [*zip(GAMES, ("fewest-then-biggest", "threes-only"), strict=True)])
def test_an_endpoint_that_plays_a_strategy_has_its_regret(asked, words, name):
    game = GAMES[words]
    policy = strategy(game, name)
    with endpoint(player(TextGame(game), policy)) as (url, requests):
        found, _ = asked(words, url)
    assert found["regret"] == pytest.approx(evaluate(game, policy).regret, abs=1e-12)
    assert (found["missing"], found["unparsable_mass"], found["illegal_mass"]) == (0, 0, 0)
    assert len(requests) == found["questions"]
    path, key, body = requests[0]
    assert (path, key) == ("/v1/chat/completions", "Bearer secret")
    assert (body["model"], body["temperature"]) == ("a model", 0)
    assert [message["role"] for message in body["messages"]] == ["system", "user"]


def test_questions_whose_requests_fail_are_asked_in_the_next_run(asked):
    words, game = "threes --dice 3", Threes(dice=3)
    policy = strategy(game, "threes-only")
    plays = player(TextGame(game), policy)
    calls = []

    def model(prompt):
        calls.append(prompt)
        if len(calls) % 3 == 0 and not mended:
            raise RuntimeError
        return plays(prompt)

    mended = False
    with endpoint(model) as (url, _):
        first, err = asked(words, url)
        questions = first["questions"]
        assert first["missing"] == questions // 3 > 0
        assert first["missing_mass"] > 0
        assert f"{questions} of {questions} questions, {first['missing']} without an answer" in err
        assert "HTTP Error 500" in err
        mended = True
        second, _ = asked(words, url)
    assert len(calls) == questions + first["missing"]
    assert second["missing"] == 0
    assert second["regret"] == pytest.approx(evaluate(game, policy).regret, abs=1e-12)
