"""Ask a language model every question of a game, at any OpenAI-compatible chat endpoint.

    stb-gym ask shut-the-box > questions.jsonl
    python docs/tutorials/chat_endpoint.py --url http://localhost:8000/v1 --model NAME
    stb-gym grade shut-the-box --answers answers.jsonl

Set the environment variable OPENAI_API_KEY if the endpoint needs a key. Run the program again to repeat failed
requests.
"""

import argparse
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from urllib.request import Request, urlopen


def ask(url, model, question):
    """Send a question to the model and return its answer as text."""
    messages = [{"role": "system", "content": question["rules"]}, {"role": "user", "content": question["question"]}]
    body = json.dumps({"model": model, "messages": messages, "temperature": 0}).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {os.environ.get('OPENAI_API_KEY', '')}"}
    with urlopen(Request(f"{url}/chat/completions", body, headers), timeout=600) as reply:
        return json.load(reply)["choices"][0]["message"]["content"] or ""


def main(url, model, questions="questions.jsonl", answers="answers.jsonl", parallel=4):
    """Append the answers to questions that the file of answers lacks, and return how many requests failed."""
    Path(answers).touch()
    answered = {json.loads(line)["id"] for line in Path(answers).read_text().splitlines()}
    asked = [json.loads(line) for line in Path(questions).read_text().splitlines()]
    left = [question for question in asked if question["id"] not in answered]
    failed, error = 0, None
    pool = ThreadPoolExecutor(parallel)
    try:
        running = {pool.submit(ask, url, model, question): question["id"] for question in left}
        for done, answer in enumerate(as_completed(running), 1):
            if answer.exception():
                failed, error = failed + 1, answer.exception()
            else:
                with open(answers, "a") as file:
                    print(json.dumps({"id": running[answer], "answer": answer.result()}), file=file)
            print(f"\r{done} of {len(left)} questions, {failed} without an answer", end="", file=sys.stderr, flush=True)
    finally:
        pool.shutdown(cancel_futures=True)
    print(f"\nthe last error: {error}; run the program again" if error else "", file=sys.stderr)
    return failed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True, help="up to the path /chat/completions")
    parser.add_argument("--model", required=True)
    parser.add_argument("--questions", default="questions.jsonl")
    parser.add_argument("--answers", default="answers.jsonl", help="a file that may have some of the answers")
    parser.add_argument("--parallel", type=int, default=4, help="requests at a time")
    sys.exit(1 if main(**vars(parser.parse_args())) else 0)
