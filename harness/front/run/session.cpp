#include "harness/front/run/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "harness/failure_message.hpp"
#include "harness/front/output/file_output.hpp"
#include "harness/front/output/format.hpp"
#include "harness/front/process/errors.hpp"
#include "harness/front/workers/build_state.hpp"
#include "harness/front/workers/launcher.hpp"
#include "harness/turns.hpp"

namespace lab::front {
namespace {

// A proof of many gigabytes, or on the emulator, takes its time and tells how far it is; what tells nothing
// for so long hangs.
constexpr double answer_seconds = 900;
constexpr double silent_seconds = 120;
// Sampling may be repeated when the clock falls, and a cold sample takes far longer than what is timed of it.
constexpr double time_limit_factor = 10;

// A sealed worker takes requests of up to 256 KiB (harness/grade), and what JSON adds counts, too. What is
// not handed on is worked out again.
constexpr std::size_t most_reference_bytes = std::size_t{96} << 10;

// Does it end so because another process had the memory that it needed, or a device that takes one process
// alone?
bool may_have_lacked(const answer_record& answer) {
  if (answer.end == answer_end::error) return true;
  const auto says = [&](const char* words) {
    return answer.message.find(words) != std::string::npos ||
           (answer.failure && answer.failure->found.find(words) != std::string::npos);
  };
  constexpr std::array all{"cudaErrorMemoryAllocation", "cudaErrorDevicesUnavailable", "out of memory",
                           "bad_alloc", "killed by signal 9 "};
  return answer.end == answer_end::failed && std::any_of(all.begin(), all.end(), says);
}

// Is it this row alone that cannot be had?
bool concerns_the_row(const answer_record& answer) {
  if (answer.end == answer_end::failed)
    return answer.failure && answer.failure->kind == failure_kind::unsupported;
  return answer.error == error_kind::memory || answer.error == error_kind::unsupported;
}

[[noreturn]] void give_up(const std::string& what, const answer_record& answer) {
  const std::string message = fmt::format("{}: {}", what, answer_text(answer));
  if (answer.error == error_kind::usage) throw usage_error(message);
  throw environment_error(message);
}

void fail(result_row& row, failure_kind kind, const std::string& message) {
  row.status = row_status::failed;
  row.message = message;
  row.timing.reset();
  if (!row.failure) row.failure = failure_record{};
  row.failure->kind = kind;
}

void take_records(const answer_record& answer, bool timed, result_row& row) {
  row.verification = answer.content.at("verification").get<verification_record>();
  if (row.verification->failed_as_expected && row.verification->failure) {
    row.status = row_status::expected_failure;
    row.failure = row.verification->failure;
    row.message = failure_message(*row.failure);
    return;
  }
  if (!row.verification->passed) {
    row.failure = row.verification->failure;
    fail(row, row.failure ? row.failure->kind : failure_kind::wrong,
         row.failure ? failure_message(*row.failure) : "the verification did not pass");
    return;
  }
  if (!timed) return;
  row.timing = answer.content.at("timing").get<timing_record>();
  if (!(row.timing->median > 0)) throw protocol_error("a time that is not positive");
}

result_row row_of(const stage_description& stage) {
  result_row row;
  row.stage = stage.path;
  row.library = stage.library;
  row.idea = stage.idea;
  return row;
}

// Of a stage that is not asked: this device cannot run it, or its worker could not even describe it.
result_row unasked_row(const stage_description& stage) {
  result_row row = row_of(stage);
  if (!stage.broken.empty()) {
    fail(row, failure_kind::crash, stage.broken);
    return row;
  }
  row.status = row_status::skipped;
  row.message = stage.why_not;
  return row;
}

// The next stage of the job that will be asked for, behind this one or (null) of all; null if none will.
const stage_description* stage_after(const ladder_job& job, const stage_description* stage) {
  const auto& stages = job.selection.stages;
  auto next = stage == nullptr ? stages.begin() : std::find(stages.begin(), stages.end(), stage);
  if (stage != nullptr && next != stages.end()) ++next;
  next =
      std::find_if(next, stages.end(), [](const auto* one) { return one->runnable && one->broken.empty(); });
  return next == stages.end() ? nullptr : *next;
}

// What starts its process.
nlohmann::json first_words(const stage_description& stage) {
  return {{"op", "measure"}, {"stage", stage.path}};
}

// Several processes are a group of as many GPUs.
void give_each_process_a_gpu(run_options& options) {
  for (const parameter_argument& one : options.parameters) {
    if (one.name == "gpus")
      throw usage_error("--gpus and --processes exclude each other: there are as many GPUs as processes");
  }
  options.parameters.push_back({"gpus", std::to_string(options.processes)});
}

// "recorded 2026-01-31T12:00:00Z", "kept ...", or "made ..." of one that this run has made.
std::string proof_text(const proof& one, const std::string& now) {
  const char* const how = one.is_recorded ? "recorded" : one.date == now ? "made" : "kept";
  return fmt::format("{} {}", how, one.date);
}

bool uses_several_gpus(const track_selection& selection) {
  const auto& parameters = selection.track->parameters;
  return std::any_of(parameters.begin(), parameters.end(),
                     [](const parameter_description& one) { return one.name == "gpus"; });
}

}  // namespace

std::string answer_text(const answer_record& answer) {
  if (answer.needed_bytes && answer.free_bytes) {
    return fmt::format("needs {}, {} free", humanised_bytes(static_cast<double>(*answer.needed_bytes)),
                       humanised_bytes(static_cast<double>(*answer.free_bytes)));
  }
  if (!answer.message.empty()) return answer.message;
  return answer.failure ? failure_message(*answer.failure) : "failed";
}

std::string expected_failure_in(const answer_record& answer) {
  const auto verification = optional_member<verification_record>(answer.content, "verification");
  if (!verification || !verification->failed_as_expected || !verification->failure) return "";
  return failure_message(*verification->failure);
}

result_row row_from(const stage_description& stage, const answer_record& answer, bool timed) {
  result_row row = row_of(stage);
  if (answer.end != answer_end::ok && concerns_the_row(answer)) {
    row.status = row_status::skipped;
    row.message = answer_text(answer);
    return row;
  }
  if (answer.end == answer_end::error) give_up(stage.path, answer);
  try {
    if (answer.end == answer_end::ok) {
      take_records(answer, timed, row);
      return row;
    }
    row.status = row_status::failed;
    row.failure = answer.failure;
    row.message = answer_text(answer);
    row.verification = optional_member<verification_record>(answer.content, "verification");
  } catch (const std::exception& error) {
    fail(row, failure_kind::crash, fmt::format("the worker's answer cannot be understood: {}", error.what()));
  }
  return row;
}

session::session(const std::string& verb, const run_options& options, bool whole_tracks, bool one_by_one)
    : options_(options), select_(select_by(options.patterns, whole_tracks)) {
  check_files({}, {{"--json", options_.json_path}});
  process_launch launch;
  if (options_.processes > 1) {
    launch = launch_of(options_.processes, options_.launcher);
    give_each_process_a_gpu(options_);
  }
  // What several processes tell each other takes its time, and is no counter of a kernel.
  const bool counts = verb == "run" && !options_.host_times && options_.processes == 1;
  const backend emulated = counts ? backend::observed : backend::emulator;
  // One by one, nothing is described yet: it may not be built.
  const stage_selector at_first = one_by_one ? none_of(select_) : select_;
  connection_ = connect(options_.device, at_first, true, launch, emulated);
  results.counts =
      verb == "run" && (on_emulator() ? connection_.workers.kind() == backend::observed : options_.counters);
  plain_ = on_emulator() && results.counts ? worker_set(backend::emulator) : connection_.workers;
  for (worker_set* const workers : {&connection_.workers, &plain_, &observed_})
    workers->set_output_sink([this](const std::string& line) { status_.print(line); });
  if (!one_by_one || connection_.workers.is_single()) {
    selections_ = select_stages(connection_.description.tracks, options_.patterns);
    check_selections();
  }
  // Of a track that is not open yet its sweep is not known: each of its stages counts once until then.
  for (const auto& selection : one_by_one ? select_(known_names()) : selections_)
    all_rows_ += selection.stages.size();
  if (!one_by_one && verb != "verify") count_sweeps();

  results.verb = verb;
  results.created = utc_now();
  results.seed = options_.seed;
  results.device = connection_.description.device;
  results.kernels = connection_.description.build;
  if (verb == "run" && !on_emulator() && options_.processes == 1) {
    turns_.emplace("turns");
    setenv(turns_variable, turns_->path().c_str(), 1);
  }
  digests_ = read_source_digests();
  results.sources = digests_.tree;
  proofs_ = proof_store(proof_backend(*results.device), results.kernels.flags,
                        connection_.workers.is_single() ? source_digests{} : digests_);
  results.trial_seed = options_.trial_seed;
  results.options = {{"patterns", options_.patterns},
                     {"trial_seed", options_.trial_seed},
                     {"timeout_seconds", value_or_null(options_.timeout_seconds)}};
  if (options_.processes > 1) {
    results.options["processes"] = options_.processes;
    results.options["launcher"] = options_.launcher;
  }
  if (verb == "verify") {
    results.options["thorough"] = options_.thorough;
  } else {
    results.options["minimum_samples"] = options_.sampling.minimum_samples;
    results.options["time_limit_seconds"] = options_.sampling.time_limit_seconds;
    results.options["spread_target"] = options_.sampling.spread_target;
    results.options["warmups"] = options_.sampling.warmups;
    if (options_.repeat > 1) results.options["repeat"] = options_.repeat;
  }
}

void session::check_selections() {
  if (options_.processes > 1 && std::none_of(selections_.begin(), selections_.end(), uses_several_gpus))
    throw usage_error("--processes: nothing that was asked for uses several GPUs (lab list '*_gpus')");
  check_parameters(selections_, options_.parameters, options_.option_names);
}

const std::vector<track_description>& session::known_names() const {
  return connection_.workers.is_single() ? connection_.description.tracks : connection_.workers.names();
}

std::vector<std::string> session::tracks() const {
  std::vector<std::string> names;
  for (const auto& selection : select_(known_names())) names.push_back(selection.track->name);
  return names;
}

void session::count_sweeps() {
  for (const auto& job : jobs()) all_rows_ += job.selection.stages.size();
  for (const auto& selection : selections_) all_rows_ -= selection.stages.size();
}

void session::open(const std::string& track) {
  if (!connection_.workers.is_single()) {
    status_.show(fmt::format("{}: waiting until it is built", track));
    wait_until_built(track);
    status_.clear();
    opened_.push_back(described(connection_, only_track(select_, track)));
  }
  // What was described for it holds nothing else.
  selections_ = connection_.workers.is_single() ? only_track(select_, track)(connection_.description.tracks)
                                                : select_stages(opened_.back().tracks, {});
  check_selections();
  count_sweeps();
}

std::vector<ladder_job> session::jobs() const {
  std::vector<cache_state> states{cache_state::cold};
  if (options_.l2 == l2_choice::warm) states = {cache_state::warm};
  if (options_.l2 == l2_choice::both) states = {cache_state::cold, cache_state::warm};
  if (on_emulator() || results.counts) states = {cache_state::none};
  // The emulator's sizes on either device, so that their counters can be compared.
  const default_set defaults = results.counts ? default_set::verify : default_set::bench;
  std::vector<ladder_job> jobs;
  for (const auto& selection : selections_) {
    const auto sets = parameter_sets(*selection.track, options_.parameters, defaults);
    // Why none of them runs here is said once.
    if (std::none_of(selection.stages.begin(), selection.stages.end(),
                     [](const auto* one) { return one->runnable || !one->broken.empty(); })) {
      jobs.push_back({selection, sets.front(), states.front()});
      continue;
    }
    for (const auto& parameters : sets) {
      for (const cache_state state : states) jobs.push_back({selection, parameters, state});
    }
  }
  return jobs;
}

result_group& session::begin_group(const ladder_job& job) {
  result_group group;
  group.track = job.selection.track->name;
  group.title = job.selection.track->title;
  group.l2 = job.l2;
  for (const auto& parameter : job.selection.track->parameters) {
    const auto value = job.parameters.find(parameter.name);
    if (value != job.parameters.end()) group.parameters.emplace_back(*value);
  }
  results.groups.push_back(std::move(group));
  return results.groups.back();
}

std::map<std::string, std::string>& session::references_of(const stage_description& stage,
                                                           const nlohmann::json& message) {
  // Those of a proof's many trials would leave no room for the few that every measured row needs.
  return references_[{stage.path.substr(0, stage.path.find('/')), message.at("op")}];
}

nlohmann::json session::about(const stage_description& stage, nlohmann::json message) {
  message["references"] = references_of(stage, message);
  message["stage"] = stage.path;
  message["seed"] = options_.seed;
  message["trial_seed"] = options_.trial_seed;
  return message;
}

answer_record session::request_about(const worker_set& workers, const stage_description& stage,
                                     const nlohmann::json& message, const nlohmann::json& next) {
  auto& known = references_of(stage, message);
  answer_record answer = request(workers, about(stage, message), progress_text(stage), next);
  // A stage that did not pass may have spoilt more than its own outputs.
  const auto worked_out = answer.content.find("references");
  if (answer.end == answer_end::ok && worked_out != answer.content.end() && worked_out->is_object()) {
    std::size_t bytes = 0;
    for (const auto& [key, text] : known) bytes += key.size() + text.size();
    for (const auto& [key, text] : worked_out->items()) {
      if (!text.is_string()) continue;
      bytes += key.size() + text.get_ref<const std::string&>().size();
      if (bytes > most_reference_bytes) break;
      known.emplace(key, text.get<std::string>());
    }
  }
  return answer;
}

answer_record session::request(const worker_set& workers, const nlohmann::json& message,
                               const std::string& status, const nlohmann::json& next) {
  using seconds = time_limits::seconds;
  const seconds sampling_time(time_limit_factor * options_.sampling.time_limit_seconds);
  const time_limits limits = options_.timeout_seconds ? time_limits(seconds(*options_.timeout_seconds))
                                                      : time_limits(seconds(answer_seconds) + sampling_time,
                                                                    seconds(silent_seconds) + sampling_time);
  status_.show(status);
  std::unique_ptr<worker> one = std::exchange(ahead_, nullptr);
  if (!one || one->arguments() != workers.command(message) || !one->may_answer(message))
    one = std::make_unique<worker>(workers.start(message));
  bool had_company = turns_ && one->is_asked();
  bool has_room = false;    // for another process with as much memory
  std::optional<turn> row;  // while the next one is asked and this one is there
  const auto show = [&](const std::string& progress) {
    status_.show(fmt::format("{}: {}", status, progress));
  };
  auto answer = workers.request(*one, message, limits, [&](const std::string& progress) {
    show(progress);
    const bool is_over = progress == timing_is_over;
    if (progress == next_may_begin && turns_) has_room = true;
    if (next.is_null() || on_emulator() || !(is_over || has_room)) return;
    if (!ahead_) {
      ahead_ = std::make_unique<worker>(workers.start(next));
      ahead_->start_ahead();
    }
    // While this one is compared once more and ends, the next one comes as far as its timing.
    if (!is_over || !has_room || !next.contains("plan") || row) return;
    row.emplace(row_turn);
    if (!row->is_held()) return;
    ahead_->ask_ahead(next);
    had_company = true;
  });
  row.reset();
  if (had_company && may_have_lacked(answer)) {
    ahead_.reset();
    one = std::make_unique<worker>(workers.start(message));
    answer = workers.request(*one, message, limits, show);
  }
  status_.clear();
  return answer;
}

void session::measure_floor() {
  if (on_emulator() || results.counts) return;
  sampling_options sampling = options_.sampling;
  // As the stages are measured, so that the floor is theirs: a launch in a warm batch hides behind the one
  // before.
  sampling.l2 = options_.l2 == l2_choice::warm ? cache_state::warm : cache_state::cold;
  const auto answer = request(connection_.workers, {{"op", "floor"}, {"plan", sampling}}, "launch floor");
  if (answer.end != answer_end::ok) give_up("launch floor", answer);
  results.floor = answer.content.at("timing").get<timing_record>();
}

void session::measure_ceiling(const ladder_job& job, result_group& group) {
  if (on_emulator() || results.counts) return;
  // Nothing will be compared with it.
  const auto& stages = job.selection.stages;
  if (std::none_of(stages.begin(), stages.end(), [](const auto* one) { return one->runnable; })) return;
  sampling_options sampling = options_.sampling;
  sampling.l2 = job.l2;
  const std::string what = fmt::format("speed of light of {}", group.track);
  const auto take = [&](const nlohmann::json& content) {
    group.ceilings.push_back(content.at("ceiling").get<ceiling_record>());
    if (const auto arithmetic = optional_member<ceiling_record>(content, "arithmetic"))
      group.ceilings.push_back(*arithmetic);
  };
  nlohmann::json message = {{"op", "ceiling"},
                            {"track", group.track},
                            {"parameters", job.parameters},
                            {"seed", options_.seed},
                            {"plan", sampling}};
  // Behind the stages, the operation that was the fastest before them.
  if (!group.ceilings.empty()) message["operation"] = group.ceilings.front().operation;
  // What was measured behind the group before it is what is measured here, where both move the same.
  if (last_ceiling_ && last_ceiling_->request.at("track") == group.track &&
      last_ceiling_->request.at("plan") == message["plan"])
    message["like"] = last_ceiling_->request.at("parameters");
  const stage_description* const first = group.rows.empty() ? stage_after(job, nullptr) : nullptr;
  const nlohmann::json next = first != nullptr ? first_words(*first) : nlohmann::json();
  const auto answer = request(connection_.workers, message, what, next);
  if (answer.end == answer_end::ok && answer.content.contains("like")) {
    take(last_ceiling_->content);
  } else if (answer.end == answer_end::ok) {
    take(answer.content);
    last_ceiling_ = {message, answer.content};
  } else if (concerns_the_row(answer)) {
    group.ceiling_problem = answer_text(answer);
  } else {
    give_up(what, answer);
  }
}

std::string session::progress_text(const stage_description& stage) const {
  const row_counts done = count_rows(results);
  return fmt::format("[{}/{}] {}", done.ok + done.failed + done.skipped + done.expected_failures + 1,
                     all_rows_, stage.path);
}

bool session::is_observed(const stage_description& stage) const {
  // A first look asks nothing that takes another program. What one program holds for a test is no stage of
  // the repository; an expected failure is wrong, and shows it unobserved.
  return options_.thorough && on_emulator() && !connection_.workers.is_single() && observed_.exists() &&
         stage.expected_failure.empty();
}

std::optional<result_row> session::observe(const stage_description& stage) {
  const auto answer = request(observed_,
                              {{"op", "observe"},
                               {"stage", stage.path},
                               {"seed", options_.seed},
                               {"trial_seed", options_.trial_seed}},
                              progress_text(stage));
  result_row found = row_from(stage, answer, false);
  if (found.status == row_status::ok) return std::nullopt;
  return found;
}

result_row session::proved_row(const stage_description& stage) {
  const nlohmann::json message = {{"op", "verify"}, {"thorough", options_.thorough}};
  if (is_observed(stage)) {
    // The plain program is at work meanwhile, on another core.
    const nlohmann::json asked = about(stage, message);
    auto plain = std::make_unique<worker>(plain_.start(asked));
    plain->ask_ahead(asked);
    if (auto faulty = observe(stage)) return std::move(*faulty);
    ahead_ = std::move(plain);
  }
  result_row row = row_from(stage, request_about(plain_, stage, message), false);
  const bool is_whole = options_.thorough && options_.processes == 1;
  if (row.status == row_status::ok && row.verification && is_whole) {
    proofs_.keep(stage.path, results.kernels.compiler, *row.verification);
    row.proof = fmt::format("made {}", results.created);
  }
  return row;
}

bool session::is_proved(const stage_description& stage) {
  if (proved_.contains(stage.path)) return true;
  // A proof is of one process.
  if (!stage.expected_failure.empty() || options_.prove || options_.processes > 1) return false;
  const std::optional<proof> known = proofs_.find(stage.path);
  if (known) proved_[stage.path] = *known;
  return known.has_value();
}

std::optional<result_row> session::prove(const stage_description& stage) {
  if (const auto known = refused_.find(stage.path); known != refused_.end()) return known->second;
  std::optional<result_row>& refused = refused_[stage.path];
  if (is_proved(stage)) return refused;
  result_row row = proved_row(stage);
  if (row.status != row_status::ok) return refused = std::move(row);
  proved_[stage.path] = {.stage = stage.path, .date = results.created, .found = *row.verification};
  return refused;
}

nlohmann::json session::measurement(const ladder_job& job, const proof& of) const {
  sampling_options sampling = options_.sampling;
  sampling.l2 = job.l2;
  return {{"op", "measure"}, {"parameters", job.parameters}, {"plan", sampling}, {"proved", of.found}};
}

result_row& session::measure(const ladder_job& job, const stage_description& stage, result_group& group) {
  const auto before = std::find_if(group.rows.begin(), group.rows.end(),
                                   [&](const auto& row) { return row.stage == stage.path; });
  if (before != group.rows.end() && !before->timing) return *before;
  if (!stage.runnable || !stage.broken.empty()) return add_row(unasked_row(stage), group);
  if (auto refused = prove(stage)) return add_row(std::move(*refused), group);
  const nlohmann::json message = measurement(job, proved_.at(stage.path));
  last_ceiling_.reset();
  nlohmann::json next;
  if (const stage_description* const after = stage_after(job, &stage)) {
    next = first_words(*after);
    // Once a row is there, what references worked out for it is what all stages are compared with.
    const bool is_known = std::any_of(group.rows.begin(), group.rows.end(),
                                      [](const auto& row) { return row.status == row_status::ok; });
    if (turns_ && is_known && options_.repeat == 1 && is_proved(*after))
      next = about(*after, measurement(job, proved_.at(after->path)));
  } else if (turns_ && options_.repeat == 1) {
    next = {{"op", "ceiling"}, {"track", group.track}};
  }
  result_row row = row_from(stage, request_about(connection_.workers, stage, message, next), true);
  row.proof = proof_text(proved_.at(stage.path), results.created);
  if (before != group.rows.end()) add_process(*before, row);
  return add_row(std::move(row), group);
}

result_row& session::count(const ladder_job& job, const stage_description& stage, result_group& group,
                           const gpu_counter& measured) {
  if (!stage.runnable || !stage.broken.empty()) return add_row(unasked_row(stage), group);
  // An expected failure shows that it is one when it is counted.
  if (stage.expected_failure.empty()) {
    if (auto refused = prove(stage)) return add_row(std::move(*refused), group);
  }
  result_row row = row_of(stage);
  if (on_emulator()) {
    const auto answer =
        request_about(connection_.workers, stage, {{"op", "counters"}, {"parameters", job.parameters}});
    row = row_from(stage, answer, false);
    if (row.status == row_status::ok) {
      row.figures = figures_of(answer.content.at("profile").get<profile_record>(),
                               answer.content.at("outputs").get<std::int64_t>());
    }
  } else {
    status_.show(progress_text(stage) + ": counting");
    const stage_profile found = measured(stage, job.parameters);
    status_.clear();
    if (!found.failure.empty()) {
      fail(row, failure_kind::wrong, found.failure);
    } else if (!found.expected_failure.empty()) {
      row.status = row_status::expected_failure;
      row.message = found.expected_failure;
    } else {
      row.figures = figures_of(found.profile, found.outputs);
    }
  }
  if (const auto proof = proved_.find(stage.path); proof != proved_.end())
    row.proof = proof_text(proof->second, results.created);
  return add_row(std::move(row), group);
}

result_row& session::verify(const stage_description& stage, result_group& group) {
  if (!stage.runnable || !stage.broken.empty()) return add_row(unasked_row(stage), group);
  return add_row(proved_row(stage), group);
}

std::vector<std::string> images_of(const ladder_job& job, const stage_description& stage,
                                   const std::string& directory) {
  std::string size;
  for (const auto& parameter : job.selection.track->parameters)
    size += (size.empty() ? "" : "x") + job.parameters.at(parameter.name).text();
  const std::string base = fmt::format("{}/{}_{}_{}", directory, job.selection.track->name, stage.name, size);
  return {base + ".png", base + "_difference.png"};
}

void session::draw(const ladder_job& job, const std::string& directory) {
  if (!job.selection.track->draws) return;
  for (const auto* stage : job.selection.stages) {
    if (!stage->runnable || !stage->broken.empty()) continue;
    const std::vector<std::string> outputs = images_of(job, *stage, directory);
    const auto answer =
        request(plain_,
                {{"op", "apply"},
                 {"stage", stage->path},
                 {"parameters", job.parameters},
                 {"inputs", nlohmann::json::array()},
                 {"outputs", std::vector{path_for_worker(outputs[0]), path_for_worker(outputs[1])}}},
                fmt::format("image of {}", stage->path));
    if (answer.end == answer_end::ok) {
      for (const auto& path : outputs) status_.print(fmt::format("wrote {}", path));
    } else if (answer.end == answer_end::error && !concerns_the_row(answer)) {
      give_up("image of " + stage->path, answer);
    } else {
      status_.print(fmt::format("no image of {}: {}", stage->path, answer_text(answer)));
    }
  }
}

result_row& session::add_row(result_row row, result_group& group) {
  row.sources = digest_of(digests_, row.stage);
  auto existing = std::find_if(group.rows.begin(), group.rows.end(),
                               [&](const auto& other) { return other.stage == row.stage; });
  if (existing == group.rows.end()) existing = group.rows.insert(existing, result_row{});
  *existing = std::move(row);
  compare_rows(group);
  save();
  return *existing;
}

void session::end_group(result_group& group) {
  reject_faster_than_light(group);
  save();
}

void session::save() const {
  if (!options_.json_path.empty()) write_file(options_.json_path, json_text(results));
}

}  // namespace lab::front
