"""Test games in words: every action can be answered and parsed, and answers are measured exactly."""

import json
import random
import re

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import stb_gym
from stb_gym import MaskInObservation, Objective, RecordRegret, ShutTheBox, Threes, evaluate, strategy
from stb_gym.cli.program import main
from stb_gym.envs import stepper_of
from stb_gym.games import GAMES, entry_of, fits, make_game, rolls
from stb_gym.games.shut_the_box import board_of
from stb_gym.text import TextEnv, TextGame
from stb_gym.text.game import decision_at
from stb_gym.words import Words
from tests.twins import MostThrees

VARIANTS = {
    f"{name} {variant}": make_game(rules, named.fields)
    for name, rules in GAMES.items()
    for variant, named in entry_of(rules).variants.items()
    if fits(make_game(rules, named.fields))
} | {"threes": Threes(), "threes with 7 dice": Threes(dice=7)}
SMALL = {"box": ShutTheBox(tiles=6), "one die": ShutTheBox(tiles=6, one_die="low-sum"), "three dice": Threes(dice=3)}
BOX = TextGame(ShutTheBox())
BOARD = 0b111111111
NINE = BOX.position(BOARD, 2, (9,))


def move_named(game, answer, decision):
    action = game.parse(answer, decision)
    return None if action is None else game.game.actions[action]


def position_in(identity):
    """Return (progress, dice, roll) of the state that the question of an id is about."""
    progress, dice, roll = identity.split("-")[1:]
    return int(progress), int(dice), tuple(map(int, roll.split(".")))


def choices_of_turns(rules):
    """Return (progress, dice, roll) of every state with a choice that the moves of some turn lead to."""
    found, reached, left = set(), {rules.start()}, [rules.start()]
    while left:
        afterstate = left.pop()
        for roll in rolls(rules, afterstate[1]).shown if afterstate[1] else ():
            moves = rules.moves(afterstate, roll)
            left += {*moves.values()} - reached
            reached |= {*moves.values()}
            if len(moves) > 1:
                found.add((*afterstate, roll))
    return found


def check_every_action(game):
    """Check that each state of a turn has a question of its own, and that each legal action is read from its answer."""
    tables = stb_gym.solve(game.game).tables
    stepper = stepper_of(game.game)
    asked = choices_of_turns(game.game)
    questions = list(game.questions()) if asked else []
    for key in ("id", "question"):
        assert len({question[key] for question in questions}) == len(questions) == len(asked)
    assert {position_in(question["id"]) for question in questions} == asked
    for number, state in enumerate(tables.decisions.tolist()):
        decision = decision_at(stepper, state)
        assert decision.legal == tuple(tables.pair_action[tables.pairs_of(state)])
        for action in decision.legal:
            assert game.parse(game.answer(action), decision) == action
        if number % 50 == 0:
            assert decision == game.position(*decision[:3])
            assert game.parse(f"I think.\n\n**Answer:** {game.answer(action)}.", decision) == action


@pytest.mark.parametrize("seed", [5, pytest.param(None, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", [*SMALL, *(pytest.param(name, marks=pytest.mark.nightly) for name in VARIANTS)])
def test_every_action_is_read_from_its_answer(name, seed):
    check_every_action(TextGame({**SMALL, **VARIANTS}[name], seed=seed))


def test_a_game_of_your_own_has_questions(pig):
    for rules in (pig(most_points=25), MostThrees(dice=3)):
        check_every_action(TextGame(rules))


def test_a_game_of_your_own_can_change_its_questions_and_answers(pig):
    class PigWords(Words):
        renamed = "faces"
        num_renamed = 6

        def question(self, progress, dice, roll):
            return f"You have {progress} and throw a {self.name(roll[0])}"

        def answer(self, action):
            return ["Stop at 1", "Go on to 2"][action]

    stb_gym.register_game(pig, words=PigWords)
    game = TextGame(pig(most_points=25), seed=1)
    assert "The faces bear words instead of numbers" in game.rules
    assert game.question(game.position(7, 1, (3,))).startswith("You have 7 and throw a hotel")
    check_every_action(game)
    assert move_named(game, '{"move": "throw again"}', game.position(7, 1, (3,))) == "throw again"


READ = [
    "I shut 4 and 5.", "4+5", "5, 4", "Shut tiles four and five!", "4 + 5 = 9", "[5, 4]", '{"tiles": [4, 5]}',
    '```json\n{"move": "4+5"}\n```', "9 or 4+5? I prefer many tiles.\nAnswer: 4,5", "answer: (4 and 5)",
    "**Answer: 4, 5**", "The answer: 4 5", "I'll close the 4 & the 5",
    '{"shut": ["four", "five"]}', "Answer: 4,5\n\nAnswer: 5+4", "I\u2019ll shut \u201c4\u201d and \u201c5\u201d.",
    "I am going to shut 4 and 5", "So my move is to shut tile 4, then tile 5", "4 and 5 is my move",
    "shut 4, shut 5", "closing 4, closing 5", "the 4 tile and the 5 tile", "the 4 and 5 tiles", "I shut 4 with 5",
    "I'm going with 4 and 5.", '["shut 4", "shut 5"]', '{"answer": "shut 4,5"}', '{"tiles": ["4 and 5"]}',
    "> Answer: shut 4,5", "### Final answer: shut 4,5", "1. Answer: 4,5", "Answer: shut 4,5\r\nGood luck!",
    'End your reply with one line such as "Answer: shut 3,5".\nAnswer: shut 4,5', "\ufeffAnswer: 4,5",
    "It was not easy. My answer: 4,5", "Answer: {\"tiles\": [4, 5]}", "4\u00a0and\t5", "FOUR AND FIVE", "+4 +5",
    "Answer 4,5", "The answer is 4,5", "The best move is to shut 4 and 5.", "Let's shut 4 and 5",
    "I'll go with 4 and 5.", "Move: shut 4,5", "Tiles: 4, 5", "I think I should shut 4 and 5",
    "You should shut 4,5.", "The correct answer is: 4,5", "Okay, I'd like to pick 4 and 5",
]  # fmt: skip


AMBIGUOUS = [
    "", "?", "9 or 4+5", "I don't shut 4 and 5", "4-5", "4.5", "4 and 4", "45", "1. 4\n2. 5",
    "Answer: 9\nAnswer: 4+5",
    "4+5=10", "4/5", "-4, 5", "I shut 4 and 5 to keep 9", "shut 4 and 5 not 9", '{"tiles": [4], "tiles": [5]}',
    '{"tiles": [4, 5.0]}', '{"tiles": [true, 4]}', "[[4, 5]]", "[" * 100_000, "4\u00b2", "\uff14", "Answer:",
    "0", "4 and 5 dice", "tile 10", "10" * 5000, '{"tiles": [4, 5], "why": 9}', "all", "\ud800", "none",
    "4,5;", "4 5 x", "the 4 one", "[4] 5", "4*5", "4**5", "Keep 4 and 5 open", "shut 4 and keep 5",
    "I open 4 and 5", "I throw 4 and 5",
    "shut 4 to 5", "four to five", "4 through 5", "4 thru 5", "4\u20135", "from 4 to 5", "4..5", "between 4 and 5",
    '["4 to 5"]', '{"tiles": "4 to 5"}', '["4", "to", "5"]', "1 and 2 to make 3", "1 and 2 make 3", "1+2 is 3",
    "3, so 1 and 2", "3, therefore 1 and 2", "4 of 5",
    "3 (1+2)", "1+2 (3)", "shut (1) and (2)",
    "shut 2 tiles", "two tiles", "I shut one tile", "1 tile", "shut 2 of the tiles", "one tile, 9",
    "3 tiles, 1, 2 and 6",
    "shut 2 tiles, 4 and 5", "both tiles", "with 3, shut 1 and 2", "3, shut 1 and 2", "3 and shut 1, 2",
    "9, closing 4 and 5", "make 9", "I make it 9", "to make 9", "down to 9", "the sum 9", "9 = 4+5", "= 9",
    "Wrong answer: 9", "That is not my answer: 9", "I don't give an answer: 9", "No answer: 9",
    "An incorrect answer: 9", "the worst possible answer: 9", "Never answer: 9", "not a good final answer: 9",
    "I shut 4 and 5 instead of the answer: 9", "better than the answer: 9",
    "Wrong answer: 9\nAnswer: 4,5",
    'End your reply with one line such as "Answer: shut 3,5".', "Answer: such as 4,5", "Answer:\n4,5",
    "Answer: 4,5?", "Answer: not 4,5", "Answer: 4,5 instead of 9", "Answer: anything but 9",
    "Answer: 9 Answer: 4,5", "shut 4\nshut 5", "4 x 5", "4; 5", "4 | 5", "4 -> 5", "4: 5", "#4, #5", "4)(5 or 9",
    "IV and V", "4th and 5th", "4a, 5", "0x4, 5", "4e0, 5", "04, 05", "4., 5.", "4,5\x00", "4\u200b,5", "twenty",
    "minus 9",
    "[]", "{}", "null", "true", '{"tiles": []}', '{"tiles": {}}', '{"tiles": null}', '{"tiles": "9 or 4,5"}',
    '{"tiles": [4], "shut": [5]}', '{"tiles": [9], "dice": 1}', '{"Tiles": [4, 5]}', "{'tiles': [4, 5]}",
    '{"tiles": [4, 5]', '{"action": 9}', "choice 9", '{"keep": [4, 5]}',
    '{"tiles": [4, 5]} {"tiles": [9]}', '{"tiles": [-4, 5]}', '{"tiles": ["4", "to", "5"]}', '{"tiles": 45}',
]  # fmt: skip


def test_phrases_of_models_are_read_and_ambiguous_answers_are_not_guessed():
    expected = {**dict.fromkeys(READ, (4, 5)), **dict.fromkeys(AMBIGUOUS)}
    assert {answer: move_named(BOX, answer, NINE) for answer in expected} == expected


def test_words_of_large_numbers_are_not_two_tiles():
    box = TextGame(ShutTheBox(tiles=28, dice=5))
    position = box.position((1 << 28) - 1, 5, (21,))
    answers = {"21": (21,), "20, 1": (1, 20), "twenty": (20,), "twenty one": None, "twenty-one": None}
    assert {answer: move_named(box, answer, position) for answer in answers} == answers


NO_ANSWER = [
    "",
    " \n",
    ".",
    "!",
    '""',
    "``````",
    "****",
    "Answer:",
    "Answer: .",
    '[""]',
    '{"tiles": ""}',
    '{"answer": ""}',
    '{"tiles": [], "dice": 2}',
]


def test_an_empty_answer_names_nothing_even_where_a_move_shuts_nothing():
    game = TextGame(ShutTheBox(first_move=2))
    position = game.position(BOARD, 2, (4,))
    assert [game.parse(answer, position) for answer in NO_ANSWER] == [None] * len(NO_ANSWER)
    for answer in ("none", "Answer: no move.", "pass", "nothing", "[]", '{"tiles": []}', '{"tiles": ["none"]}'):
        assert move_named(game, answer, position) == ()
    silent, passing = game.measure(lambda prompt: ""), game.measure(lambda prompt: "none")
    assert silent.unparsable_mass == passing.illegal_mass == game.grade([]).missing_mass > 0.8
    assert silent.evaluation.regret == passing.evaluation.regret


KEPT = [
    ("I keep the two lowest dice.", 2), ("keep the lowest 3", 3), ("2", 2), ('{"keep": 2}', 2),
    ("throw 2 dice", None), ("keep the 3", None), ("keep a 3", None), ("close 2", None), ("tile 2", None),
    ("I choose 3", 3), ("I'll play two", 2), ("keep 1 die", 1),
    ("I keep three dice.", 3), ("keep the 2 lowest", 2), ("the lowest two dice", 2), ("[2]", 2),
    ("My move is to keep 2", 2), ("keep my 3 lowest dice", 3), ("Answer: keep 5.", 5), ('{"keep": "two dice"}', 2),
    ("keep the 3 please", None), ("keep my 3", None), ("keep the 3 die", None), ("keep die 3", None),
    ("the two", None),
    ("keep lowest, 3", None), ("keep the lowest die (1)", None), ("keep 3s", None), ("keep threes", None),
    ("keep 1 and 2", None), ("keep one 2", None), ("keep all", None), ("keep 0", None), ("keep 6", None),
    ("keep 2 or 3", None), ("keep 2 (1, 2)", None), ("keep 2.0", None), ("keep -2", None), ("re-roll 3 dice", None),
    ("keep 2 of 5", None), ("", None), ("[]", None), ("none", None), ('{"keep": 2, "dice": 3}', None),
    ("The answer is: 3.", 3), ("I'll go with 3", 3), ("I pick the 3", None), ("the die is: a 3", None),
    ("keep the die with 3", None), ("keep dice with 3", None), ("keep the lowest die: 4", None), ("keep dice: 3", None),
]  # fmt: skip


def test_answers_about_threes_say_how_many_dice_to_keep():
    game = TextGame(Threes())
    position = game.position(0, 5, (1, 2, 4, 5, 6))
    assert [(answer, move_named(game, answer, position)) for answer, _ in KEPT] == KEPT


def test_answers_must_name_the_number_of_dice_where_it_is_chosen():
    game = TextGame(ShutTheBox(one_die="low-sum"))
    decision = game.position(0b111, 2, (4,))
    one_die, two_dice = (action for action in decision.legal if game.game.actions[action] == (1, 3))
    for answer, action in {
        "1+3": None,
        "shut 1,3, throw 1 die": one_die,
        "1,3, throw one die": one_die,
        "I shut 1 and 3 and roll two dice": two_dice,
        '{"tiles": [1, 3], "dice": 1}': one_die,
        '{"tiles": "1, 3, throw 1 die", "dice": 1}': one_die,
        '{"tiles": "1, 3, throw 1 die", "dice": 2}': None,
        '{"tiles": [1, 3], "dice": 3}': None,
        '{"tiles": [1, 3], "dice": "1"}': None,
        '{"tiles": [1, 3], "dice": true}': None,
        '{"tiles": [1, 3], "dice": 1.0}': None,
        '{"move": "shut 1,3, throw 1 die", "dice": 1}': one_die,
        '{"move": "shut 1,3, throw 1 die", "dice": 2}': None,
        '{"move": "shut 1 and 3, roll two dice", "dice": 1}': None,
        '{"tiles": ["1", "3, throw 2 dice"], "dice": 1}': None,
        '{"tiles": ["1 with one die", "3 with two dice"]}': None,
        '{"dice": 1}': None,
        "1+3, throw 1 die or 2 dice": None,
        "throw 1 die, shut 1,3, throw 2 dice": None,
    }.items():
        assert game.parse(answer, decision) == action
    all_open = game.position(BOARD, 2, (4,))
    assert game.parse("1+3", all_open) in all_open.legal


def player(game, policy):
    """Return a model that answers prompts with the moves of a policy."""
    tables = stb_gym.solve(game.game).tables

    def model(prompt):
        question = prompt.split("\n\n")[-1].splitlines()
        position, roll, _ = ([int(number) for number in re.findall(r"\d+", line)] for line in question)
        if isinstance(game.game, ShutTheBox):
            progress, dice, roll = board_of(position), 2, (sum(roll),)
        else:
            progress, dice = position
        return f"Let me see.\nAnswer: {game.answer(int(policy[tables.find_state(progress, dice, tuple(roll))]))}"

    return model


def test_illegal_unparsable_and_missing_answers_are_counted_apart():
    game = TextGame(ShutTheBox(tiles=6))
    questions = list(game.questions())
    best = game.measure(player(game, strategy(game.game, "optimal")))
    assert best.evaluation.regret == pytest.approx(0, abs=1e-12)
    assert best.evaluation.agreement == 1
    first = game.question(game.position(0b111111, 2, (7,)))
    seven = next(each["id"] for each in questions if each["question"] == first)
    answers = [(each["id"], "?") for each in questions[::2] if each["id"] != seven]
    grade = game.grade([*answers, (seven, "shut 6")])
    assert grade.missing == len(questions) - len(answers) - 1
    masses = (grade.illegal_mass, grade.unparsable_mass, grade.missing_mass)
    assert grade.illegal_mass == pytest.approx(1 / 6)  # a 7 is thrown first
    assert min(masses) > 0
    assert sum(masses) == pytest.approx(grade.evaluation.illegal_mass)
    nothing = game.grade([])
    assert nothing.missing == nothing.questions
    tables = stb_gym.solve(game.game).tables
    policy = np.where(tables.choices > 1, tables.legal.argmin(axis=1), strategy(game.game, "optimal"))
    assert nothing.evaluation.regret == pytest.approx(evaluate(game.game, policy, illegal="end").regret, abs=1e-12)
    with pytest.raises(ValueError, match="no question of this game"):
        TextGame(game.game, seed=1).grade([(questions[0]["id"], "4")])


def test_the_loss_of_an_answer_is_that_of_its_move():
    best, identity = stb_gym.solve(ShutTheBox()), BOX.identity(NINE)
    moves = best.moves(roll=9)
    for move, loss in zip(moves["move"], moves["loss"], strict=True):
        assert BOX.loss(identity, f"Answer: {move}") == loss
    assert max(moves["loss"]) > 1
    for answer in ("?", "shut 1", ""):
        assert BOX.loss(identity, answer) == pytest.approx(45 - best.value_at(roll=9))
    with pytest.raises(ValueError, match="no question"):
        BOX.loss("x", "9")


@pytest.mark.parametrize("count", [2000, pytest.param(100_000, marks=pytest.mark.nightly)])
def test_random_answers_name_nothing_or_the_numbers_in_them(count):
    draw = random.Random(0)
    pieces = ["4", "5", "and", "+", "shut", "answer:", "=", "9", "{", "}", '"tiles"', ":", "[", "]", ",", "\n", "-"]
    pieces += [".", "not", "four", "I", "dice", "throw 1 die", "to", "\u0664", "\x00", "```", "**", "none", "é"]
    pieces += ["1e3", "0x4", "I shut 4 and 5. "]
    for _ in range(count):
        answer = "".join(draw.choice([piece, f" {piece} "]) for piece in draw.choices(pieces, k=draw.randrange(1, 9)))
        tiles = move_named(BOX, answer, NINE)
        if tiles is not None:
            *others, line = re.split(r"answer\s*:", re.sub(r"\*\*|`", "", answer), flags=re.IGNORECASE)
            move = (line.splitlines()[0] if others else line).partition("=")[0]
            numbers = re.findall(r"[0-9]+|four", move)
            assert {int(number.replace("four", "4")) for number in numbers} == {*tiles}, answer
            assert not re.search(r"([0-9]|four).*to.*([0-9]|four)", move), answer


def test_prompts_contain_the_rules(pig, snapshot):
    box = TextGame(ShutTheBox(tiles=7, one_die="low-sum", ending_roll=7), "at-most:5", seed=1)
    threes = TextGame(Threes(dice=2), list_moves=True)
    assert [box.rules, TextGame(pig()).rules, threes.question(threes.position(0, 2, (1, 2)))] == snapshot
    assert TextGame(box.game, "at-most:5", seed=2).rules != box.rules


def test_wrong_arguments_and_impossible_positions_are_refused(pig):
    with pytest.raises(ValueError, match="nothing to rename in pig"):
        TextGame(pig(), seed=1)
    with pytest.raises(ValueError, match="at most 26 tiles, not 28"):
        TextGame(ShutTheBox(tiles=28), seed=1)
    with pytest.raises(ValueError, match="nothing to ask"):
        TextGame(Threes(dice=1)).measure(str)
    with pytest.raises(ValueError, match="never comes"):
        BOX.position(BOARD, 2, (1,))
    with pytest.raises(ValueError, match="too many positions"):
        next(TextGame(ShutTheBox(tiles=24, dice=4)).questions())
    with pytest.raises(ValueError, match="never comes"):
        TextGame(ShutTheBox(tiles=24, dice=4)).position(1, 9, (3,))
    with pytest.raises(ValueError, match="an Objective with a name"):
        TextGame(Threes(), lambda scores: -scores)
    with pytest.raises(ValueError, match="unknown wording 'haiku'"):
        TextGame(Threes(), wording="haiku")


def test_questions_for_other_utilities_of_one_name_have_other_ids():
    games = [TextGame(Threes(dice=2), Objective("glory", utility)) for utility in (np.negative, lambda s: -(s**2))]
    ids = [next(game.questions())["id"] for game in games]
    assert ids[0] != ids[1]
    with pytest.raises(ValueError, match="has the id"):
        games[1].grade({ids[0]: "1"})


# The environment


@pytest.mark.parametrize("identity", ["stb_gym/ShutTheBox-v0", "stb_gym/Threes-v0"])
def test_rewards_are_minus_the_losses_of_record_regret(identity):
    env, recorded = TextEnv(gym.make(identity), seed=3), RecordRegret(gym.make(identity))
    draw = random.Random(1)
    for seed in range(20):
        prompt, _ = env.reset(seed=seed)
        _, info = recorded.reset(seed=seed)
        assert prompt in env.observation_space
        over = False
        while not over:
            action = draw.choice(np.flatnonzero(info["action_mask"]).tolist())
            question, reward, over, _, text_info = env.step(f"Answer: {env.text.answer(action)}")
            info = recorded.step(action)[-1]
            assert question in env.observation_space
            assert (-reward, text_info["regret"]) == pytest.approx((info["loss"], info["regret"]), abs=1e-12)
            assert text_info["action"] == action
        with pytest.raises(RuntimeError, match="no turn is running"):
            env.step("4")


@pytest.mark.parametrize("recorder", [RecordRegret, stb_gym.RecordVisits])
def test_recorders_and_words_refuse_each_other(recorder):
    with pytest.raises(ValueError, match="misses answers that name no action"):
        TextEnv(recorder(gym.make("stb_gym/Threes-v0")))
    with pytest.raises(ValueError, match="TextEnv makes no step if an answer names no action"):
        recorder(TextEnv(gym.make("stb_gym/Threes-v0")))


def test_an_answer_that_names_nothing_ends_the_turn_with_the_worst_score():
    env = TextEnv(gym.make("stb_gym/Threes-v0"))
    env.reset(seed=0)
    question, reward, terminated, _, info = env.step("I keep the threes")
    worst = 5 * 6
    best = stb_gym.solve(Threes()).value_at(roll=[2, 4, 4, 5, 6])
    assert (question, terminated, info["action"]) == ("The turn is over.", True, -1)
    assert (info["final_score"], info["illegal_action"], info["action_mask"].all()) == (worst, True, True)
    assert -reward == pytest.approx(worst - best)


def test_the_environment_passes_gymnasiums_check():
    with pytest.warns(UserWarning, match="different from the unwrapped version"):
        check_env(TextEnv(gym.make("stb_gym/ShutTheBox-v0", tiles=4)), skip_render_check=True)


def test_other_environments_are_refused():
    for identity in ("CartPole-v1", "stb_gym/ThreesRound-v0"):
        with pytest.raises(TypeError, match="needs an environment of one turn of stb_gym"):
            TextEnv(gym.make(identity))
    with pytest.raises(ValueError, match='illegal="end"'):
        TextEnv(gym.make("stb_gym/Threes-v0", illegal="raise"))
    with pytest.raises(TypeError, match="need a Discrete action space, not Text"):
        MaskInObservation(TextEnv(gym.make("stb_gym/Threes-v0")))


# The commands


DICE = [question["id"] for question in TextGame(Threes(dice=2)).questions()]
FIRST_ANSWERS = json.dumps({"id": DICE[0], "answer": "keep 1"}).encode() + b"\r\n\r\n"
NO_OBJECT = ": it must be an object with the strings id and answer, or null for a missing answer"


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("4", NO_OBJECT),
        ('[{"id": "ID", "answer": "2"}]', NO_OBJECT),
        ('{"id": "ID"}', NO_OBJECT),
        ('{"answer": null}', NO_OBJECT),
        ('{"id": "ID", "answer": 2}', NO_OBJECT),
        ('{"id": "ID", "answer": {"keep": 2}}', NO_OBJECT),
        ('{"id": "x", "answer": "2"}', ": no question has the id 'x': use the flags of ask"),
        ('{"id": "x", "id": "ID", "answer": "2"}', ": it has the key 'id' twice"),
        ("{", ": it is not JSON from column 2 on"),
        ('{"id": "\x00"}', ": it is not JSON from column 9 on"),
        ("[" * 100_000, ": it is nested too deep"),
        ("1" * 5000, ": it has an integer of 5,000 digits"),
        (b'{"id": "\xff"}', " is not UTF-8"),
    ],
)
def test_broken_files_of_answers_are_refused(line, fault, tmp_path, capsys):
    path = tmp_path / "answers.jsonl"
    path.write_bytes(FIRST_ANSWERS + (line if isinstance(line, bytes) else line.replace("ID", DICE[0]).encode()))
    assert main(["grade", "threes", "--dice", "2", "--answers", str(path)]) == 2
    assert capsys.readouterr().err.strip().endswith(f"answers.jsonl: line 3{fault}")


def test_files_of_answers_may_have_other_line_breaks_and_keys(tmp_path, capsys):
    def regret(content):
        path.write_bytes(content)
        assert main(["grade", "threes", "--dice", "2", "--json", "--answers", str(path)]) == 0
        return json.loads(capsys.readouterr().out)

    path = tmp_path / "answers.jsonl"
    lines = [json.dumps({"id": identity, "answer": "keep 1"}) for identity in DICE]
    plain = regret("\n".join(lines).encode())
    assert (plain["missing"], plain["unparsable_mass"], plain["illegal_mass"]) == (0, 0, 0)
    null = json.dumps({"id": DICE[0], "answer": None})
    more = [json.dumps({"model": {"seed": [1]}, "id": identity, "answer": "2."}) for identity in DICE[:1]]
    for content in (
        "\ufeff" + "\r\n".join(lines) + "\r\n",
        "\r".join(lines),
        "\n \n\n".join(lines) + "\n\n",
        "\n\ufeff".join(lines),
        "\n".join([null, *lines, null]),
        "\n".join([*lines, lines[0]]),
    ):
        assert regret(content.encode()) == plain
    twice = regret("\n".join([*lines, *more]).encode())
    assert twice["regret"] != plain["regret"]  # two answers share the probability of a question
