import pytest

from reflex_bench.core.errors import UsageError
from reflex_bench.harness.planning.resolving import resolve


def test_nothing_given_runs_react_beside_reflexion_with_three_trials():
    config = resolve([], {})
    assert list(config.arms) == ["react", "reflexion"]
    assert (config.arms["react"].reflector, config.arms["reflexion"].reflector) == ("none", "reflexion")
    assert (config.trials, config.memory.size, config.model.model) == (3, 3, "simulated")


def test_later_sources_win_and_flags_win_over_all(tmp_path):
    first = tmp_path / "a.yaml"
    first.write_text("trials: 5\nmodel: {temperature: 0.1, max_tokens: 99}\n")
    config = resolve([str(first), "model.temperature=0.4", "trials=6"], {"trials": 7})
    assert (config.trials, config.model.temperature, config.model.max_tokens) == (7, 0.4, 99)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("trails=3", "unknown setting 'trails'; did you mean 'trials'?"),
        ("limits.max_step=3", "unknown setting 'limits.max_step'; did you mean 'limits.max_steps'?"),
        ("arms.reflexion.memory.sise=3", "did you mean 'arms.reflexion.memory.size'?"),
        ("arms.reflexion.reflektor=none", "did you mean 'arms.reflexion.reflector'?"),
        ("trials=0", "trials: input should be greater than or equal to 1 (got 0)"),
        ("model.temperature=hot", "model.temperature"),
        ("arms=reflexio", "unknown arm 'reflexio'; did you mean 'reflexion'?"),
        ("nowhere.yaml", "no such configuration file: nowhere.yaml"),
        ("papre", "did you mean 'paper'?"),
        ("trials=[1", "the value is not valid YAML"),
    ],
)
def test_a_mistake_is_told_in_one_line_with_what_would_be_right(source, said):
    with pytest.raises(UsageError) as error:
        resolve([source], {})
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_arms_can_be_named_changed_and_invented():
    assert list(resolve(["arms=reflexion"], {}).arms) == ["reflexion"]
    config = resolve(["arms={short: {reflector: reflexion, memory: {size: 1}}, react: }"], {})
    assert config.arms["short"].memory.size == 1
    assert config.arms["react"].reflector == "none"


def test_a_file_that_is_no_mapping_is_refused(tmp_path):
    file = tmp_path / "x.yaml"
    file.write_text("- 1\n- 2\n")
    with pytest.raises(UsageError, match="a configuration is a mapping"):
        resolve([str(file)], {})


def test_yaml_that_would_run_code_is_refused(tmp_path):
    file = tmp_path / "x.yaml"
    file.write_text("trials: !!python/object/apply:os.system ['true']\n")
    with pytest.raises(UsageError, match="not readable as YAML"):
        resolve([str(file)], {})
