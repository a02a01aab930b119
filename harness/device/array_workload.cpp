#include "harness/device/array_workload.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "common/all_cores.hpp"
#include "common/process_group.hpp"
#include "common/random.hpp"
#include "harness/device/compared_pieces.hpp"
#include "harness/device/fold.hpp"
#include "harness/device/kernels.hpp"
#include "harness/device/many_values.hpp"
#include "harness/device/references.hpp"
#include "harness/device/stage_call.hpp"
#include "harness/device/watched_launch.hpp"

namespace lab {
namespace {

constexpr std::int64_t streamed_piece = std::int64_t{1} << 18;  // by one core

// So many outputs are compared one after another, or by digests: 16 cores take about a second for them.
constexpr std::int64_t most_compared = std::int64_t{1} << 28;

// So many outputs of `terms` terms each are one core's at a time, `most` of them where they are cheap: of
// 2^16 terms together, long enough to be worth a core, and short enough that a few costly outputs have all
// cores.
constexpr std::int64_t piece_of(std::int64_t terms, std::int64_t most) {
  return std::clamp<std::int64_t>((1 << 16) / std::max<std::int64_t>(terms, 1), 1, most);
}

std::string short_text(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", number);
  return text;
}

// Long memory of the host that the device writes while the host is at work: its pages stay where they are.
// Where that is refused, a copy waits.
class page_lock {
 public:
  explicit page_lock([[maybe_unused]] std::vector<std::byte>& bytes) {
#if !LAB_EMULATED
    if (bytes.size() < std::size_t{16} << 20) return;
    if (cudaHostRegister(bytes.data(), bytes.size(), cudaHostRegisterDefault) == cudaSuccess) {
      locked_ = bytes.data();
    } else {
      cudaGetLastError();
    }
#endif
  }
  page_lock(const page_lock&) = delete;
  page_lock& operator=(const page_lock&) = delete;
  ~page_lock() {
#if !LAB_EMULATED
    if (locked_ != nullptr) cudaHostUnregister(locked_);
#endif
  }

 private:
  [[maybe_unused]] void* locked_ = nullptr;
};

// What the stage answers first is what it declares.
std::optional<double> first_declared_error(const bound_problem& problem, const problem_facts& facts) {
  static std::map<std::pair<const void*, std::string>, std::optional<double>> known;
  const auto [known_error, is_new] =
      known.try_emplace({facts.stage, facts.name + " " + facts.key}, std::nullopt);
  if (is_new) known_error->second = problem.declared_error();
  return known_error->second;
}

// What judge(begin, end, result) finds of pieces of [0, count), each for one core.
template <class Judge>
check_result judged_on_all_cores(const comparison& rules, std::int64_t count, std::int64_t piece,
                                 const Judge& judge) {
  std::vector<check_result> results(threads_for(count, piece));
  for_pieces_on_all_cores(count, piece, [&](std::int64_t begin, std::int64_t end, unsigned thread) {
    judge(begin, end, results[thread]);
  });
  check_result total;
  rules.add(results, total);
  return total;
}

// The arrays that a pattern and a seed stand for.
host_arrays generated_arrays(const array_layout& layout, const input_source& source) {
  host_arrays arrays;
  for (std::size_t k = 0; k < layout.inputs.size(); ++k) {
    const array_member& input = layout.inputs[k];
    const drawn_input of = drawn(input, source.kind, source.seed, k);
    host_values& values = arrays.emplace_back(input.type, input.size());
    input_values(of.kind, of.seed, 0, 1, input.size(), input.type, values.bytes.data());
  }
  return arrays;
}

// The largest finite magnitude of all values, and the smallest but 0.
struct magnitudes {
  double largest = 0;
  double smallest = std::numeric_limits<double>::infinity();
};
magnitudes magnitudes_of(const host_arrays& arrays) {
  magnitudes all;
  for (const host_values& values : arrays) {
    with_element(values.type, [&](auto zero) {
      const auto* const array = values.as<decltype(zero)>();
      for (std::int64_t j = 0; j < values.size(); ++j) {
        const double magnitude = std::abs(static_cast<double>(array[j]));
        if (std::isfinite(magnitude)) all.largest = std::max(all.largest, magnitude);
        if (magnitude > 0) all.smallest = std::min(all.smallest, magnitude);
      }
    });
  }
  return all;
}

}  // namespace

double relative_bound(const bound_problem& problem, const problem_facts& facts) {
  // What a stage may declare where nothing but its bound tells a right output from a wrong one.
  constexpr double largest_declared = 1e-6;
  const std::optional<double> declared = first_declared_error(problem, facts);
  if (!declared) return drifts(facts) ? facts.drift_error : facts.relative_error;
  const auto text = [](double number) { return number_text(element_type::float64, number); };
  if (!(*declared >= 0) || std::isinf(*declared))
    throw stage_error("relative_error answered " + text(*declared) + ", which bounds nothing");
  const double most = std::max(largest_declared, 16 * facts.relative_error);
  const bool has_exact_inputs = !facts.layout.inputs.empty() && facts.is_exact;
  if (*declared > most && !has_exact_inputs) {
    throw stage_error("relative_error answered " + text(*declared) + ", and may be at most " + text(most) +
                      " where no inputs have exact results, by which a wrong one would show");
  }
  return *declared;
}

std::size_t scratch_bytes(const bound_problem& problem) {
  return std::min(problem.requested_workspace(), 2 * absurd_bytes);
}

std::size_t needed_bytes(const bound_problem& problem) {
  return array_bytes(problem) + array_memory::scratch_bytes(scratch_bytes(problem));
}

array_parts all_of(const array_layout& layout) {
  array_parts all{.output = {0, layout.output.size()}};
  for (const array_member& input : layout.inputs) all.inputs.push_back({0, input.size()});
  return all;
}

array_layout with_types(array_layout layout, element_type output,
                        std::initializer_list<element_type> inputs) {
  layout.output.type = output;
  for (std::size_t k = 0; k < inputs.size(); ++k) layout.inputs.at(k).type = inputs.begin()[k];
  if (layout.fewest_bytes >= 0) return layout;
  const auto bytes_of = [](const array_member& one) {
    return one.size() * static_cast<std::int64_t>(size_of(one.type));
  };
  layout.fewest_bytes = bytes_of(layout.output);
  for (const array_member& input : layout.inputs) layout.fewest_bytes += bytes_of(input);
  return layout;
}

// ---- inputs, launches, and what memory holds

array_workload::array_workload(std::unique_ptr<bound_problem> problem, cudaStream_t stream,
                               without_parts /*unused*/)
    : problem_(std::move(problem)),
      stream_(stream),
      facts_(problem_->facts()),
      bound_(relative_bound(*problem_, facts_)),
      // -1 is an integer like any other; the NaN of all ones is never computed, and no bool is a byte of
      // ones.
      poison_is_a_value_(!is_real(facts_.layout.output.type) && size_of(facts_.layout.output.type) > 1) {}

array_workload::array_workload(std::unique_ptr<bound_problem> problem, cudaStream_t stream)
    : array_workload(std::move(problem), stream, without_parts{}) {
  prepared_ = problem_->prepare(stream);
  parts_.push_back({-1, make_memory(0, stream)});
  const array_memory& memory = *parts_[0].memory;
  arguments_ = {.gpus = {{memory.inputs(), memory.output()}}, .scratch = memory.scratch(), .stream = stream};
}

void array_workload::each(const std::function<void(gpu_part&)>& function) {
  for (gpu_part& one : parts_) {
    std::optional<gpu_scope> scope;
    if (one.device >= 0) scope.emplace(one.device);
    function(one);
  }
}

void array_workload::prepare_from(const host_arrays& values) {
  source_.own = &values;
  each([&](gpu_part& one) { one.memory->send(values); });
  poison(memory_fill::ones);
}

void array_workload::prepare(pattern kind, std::uint64_t seed) {
  source_ = {.kind = kind == pattern::random ? facts_.random_input : kind, .seed = seed};
  each([](gpu_part& one) { one.memory->poison_inputs(); });
  vary(seed);
  poison(memory_fill::ones);
}

void array_workload::vary(std::uint64_t seed) {
  source_.seed = seed;
  each([&](gpu_part& one) { one.memory->generate(source_.kind, seed); });
  join();
}

void array_workload::renew(std::uint64_t seed) {
  vary(seed);
  fill_ = memory_fill::ones;
  each([](gpu_part& one) { one.memory->poison_output(); });
  join();
}

void array_workload::poison(memory_fill fill) {
  fill_ = fill;
  each([&](gpu_part& one) {
    one.memory->fill(fill, source_.seed + static_cast<std::uint64_t>(std::max(0, one.device)));
  });
  join();
}

void array_workload::launch() {
  try {
    watched_launch(facts_.traits, stream_, [&](const launch_watch&) { prepared_.enqueue(arguments_); });
  } catch (const memory_error& lacking) {
    // It asks for none while it is launched.
    throw stage_error(std::string("launch threw an exception: ") + lacking.what());
  }
}

void array_workload::look_at_memory() {
  each([&](gpu_part& one) { one.memory->look(source_, fill_); });
}

std::optional<failure_record> array_workload::changed_input() const {
  for (const gpu_part& one : parts_) {
    if (auto failure = one.memory->changed_input()) return failure;
  }
  return std::nullopt;
}

std::optional<failure_record> array_workload::memory_failure() const {
  return memory_failure([this](std::int64_t i) { return is_poison_right(i); });
}

std::optional<failure_record> array_workload::memory_failure(
    const std::function<bool(std::int64_t)>& is_poison_right) const {
  for (const gpu_part& one : parts_) {
    auto failure = one.memory->damage(is_poison_right, where(one));
    if (!failure) continue;
    if (failure->kind == failure_kind::unwritten) problem_->add_owner(*failure);
    return failure;
  }
  return std::nullopt;
}

bool array_workload::is_poison_right(std::int64_t index) const {
  if (!poison_is_a_value_) return false;
  expectation expected;
  problem_->references(source_, &index, 1, &expected);
  return with_element(facts_.layout.output.type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) return expected.value == static_cast<T>(~T{0});
    return false;
  });
}

std::optional<failure_record> array_workload::damage() {
  look_at_memory();
  if (auto changed = changed_input()) return changed;
  return memory_failure();
}

std::optional<bool> array_workload::writes_what_it_finds(std::int64_t index) {
  if (index < 0 || index >= size()) return std::nullopt;
  struct kept {
    host_values before;
    bool stays;
  };
  const auto launch_over = [&](memory_fill fill) {
    poison(fill);
    const host_values before = download({index});
    launch();
    return kept{before, download({index}).bytes == before.bytes};
  };
  const kept poisoned = launch_over(memory_fill::ones);
  const kept one = launch_over(memory_fill::zeros);
  const kept other = launch_over(memory_fill::random);
  // Where both held the same, that may be what the stage writes.
  if (one.stays && other.stays && one.before.bytes != other.before.bytes) return false;
  return poisoned.stays && !one.stays ? std::optional(true) : std::nullopt;
}

std::uint64_t array_workload::digest() {
  std::uint64_t total = 0;
  each([&](gpu_part& one) { total += one.memory->digest(); });
  const std::vector<std::uint64_t> all = processes::gather_values(total);
  return std::accumulate(all.begin(), all.end(), std::uint64_t{0});
}

// ---- checks

check_result array_workload::check() {
  if (auto failure = damage()) return {.failure = std::move(failure)};
  return located(compare_with_references());
}

check_result array_workload::located(check_result result) const {
  if (result.failure) problem_->add_owner(*result.failure);
  return result;
}

check_result array_workload::compare_with_references() {
  check_result result = compare();
  if (result.failure && references::distrust_received()) result = compare();
  return result;
}

check_result array_workload::check_against_reference(host_values& outputs) {
  CUDA_CHECK(cudaStreamSynchronize(stream_));
  look_at_memory();
  if (auto failure = memory_failure()) return {.failure = std::move(failure)};
  const part own = own_outputs();
  outputs = download(all_indices());
  const std::vector<std::int64_t> indices = whole_cost() <= max_whole_cost ? all_indices() : sample();
  host_values found(outputs.type, std::ssize(indices));
  for (std::size_t k = 0; k < indices.size(); ++k)
    std::memcpy(found.at(static_cast<std::int64_t>(k)), outputs.at(indices[k] - own.first),
                size_of(outputs.type));
  const auto [largest, smallest] = magnitudes_of(*source_.own);
  comparison rules = make_comparison(largest);
  const double beyond = error_by_traits(largest);
  if (beyond > 0) rules.plain_error = facts_.relative_error;
  check_result result = compare_listed(rules, source_, indices, found);
  result.remark = problem_->remark(smallest);
  const bool is_whole = std::ssize(indices) == own.count;
  if (beyond > 0 && (result.forgot || !is_whole)) {
    const std::string trait =
        facts_.traits.forgets > 0 ? "`forgets`: old values are missing" : "`drifts`: what has left is felt";
    result.remark += (result.remark.empty() ? "" : "; ") + std::string("results may be wrong by up to ") +
                     short_text(beyond) + " by the trait " + trait;
  }
  return located(std::move(result));
}

check_result array_workload::take(host_values& outputs) {
  CUDA_CHECK(cudaStreamSynchronize(stream_));
  look_at_memory();
  if (auto failure = memory_failure([this](std::int64_t) { return poison_is_a_value_; }))
    return {.failure = std::move(failure)};
  outputs = download(all_indices());
  return {};
}

// The error that the stage's traits allow beside the track's bound, where such values have passed.
double array_workload::error_by_traits(double largest) const {
  if (drifts(facts_)) return bound_ * problem_->drift_scale(largest);
  return facts_.traits.forgets * largest;
}

// A stage that drifts carries the rounding errors of everything that passed through its running sums, so its
// bound is a fraction of `largest`, the largest magnitude among the inputs. Exact inputs leave no room for
// rounding, whatever a stage declares, but for what finishes an exact result: a division, say, which may come
// before the sum. (One value of 2^40 that is missing or wrong is found.)
comparison array_workload::make_comparison(double largest) const {
  comparison rules{.type = facts_.layout.output.type,
                   .terms = facts_.layout.terms,
                   .relative_error = facts_.exact_error,
                   .keeps_zero_signs = facts_.keeps_zero_signs};
  if (has_exact_results()) {
    constexpr double of_one_value = 0x1p-40;
    if (facts_.exact_error > 0)
      rules.relative_error = std::max(facts_.exact_error, std::min(bound_, of_one_value));
    return rules;
  }
  const bool own = source_.own != nullptr;
  rules.relative_error = bound_;
  if (drifts(facts_)) rules.min_scale = own ? problem_->drift_scale(largest) : largest;
  rules.forgotten = facts_.traits.forgets;
  if (own) return rules;
  // A trait excuses what comes after the first rare value, and nothing before it: rounding errors of the
  // largest value that has passed, and NaN and Inf where one has.
  const pattern kind = source_.kind;
  const bool drifted = drifts(facts_) && shows_drift(kind);
  const bool leaks = facts_.traits.leaks_nonfinite && facts_.drift_error > 0 && shows_leaks(kind);
  if (!drifted && !leaks) return rules;
  const bool one_each = facts_.layout.inputs.size() == 1 && facts_.layout.inputs[0].size() == size();
  const double passed = kind == pattern::spikes ? 1e16 : largest;
  rules.first_excused = one_each && has_rare_values(kind) ? first_rare_index(kind, source_.seed) : 0;
  rules.drift = drifted ? bound_ * problem_->drift_scale(passed) : 0;
  rules.may_leak = leaks;
  return rules;
}

// ---- outputs

std::vector<std::int64_t> array_workload::all_indices() const {
  const part own = own_outputs();
  std::vector<std::int64_t> all(static_cast<std::size_t>(own.count));
  std::iota(all.begin(), all.end(), own.first);
  return all;
}

host_values array_workload::download(const std::vector<std::int64_t>& indices) {
  host_values values(facts_.layout.output.type, std::ssize(indices));
  const bool are_neighbours = !indices.empty() && indices.back() - indices.front() + 1 == std::ssize(indices);
  if (are_neighbours) {
    download(indices.front(), std::ssize(indices), values.bytes.data());
    return values;
  }
  std::size_t k = 0;
  each([&](gpu_part& one) {
    const part& held = one.memory->output_part();
    const std::size_t begin = k;
    while (k < indices.size() && indices[k] < held.first + held.count) ++k;
    one.memory->gather(indices.data() + begin, static_cast<std::int64_t>(k - begin),
                       values.at(static_cast<std::int64_t>(begin)));
  });
  return values;
}

void array_workload::download(std::int64_t first, std::int64_t count, void* to) {
  const std::size_t bytes = size_of(facts_.layout.output.type);
  each([&](gpu_part& one) {
    const part& held = one.memory->output_part();
    const std::int64_t begin = std::max(first, held.first);
    const std::int64_t end = std::min(first + count, held.first + held.count);
    if (begin >= end) return;
    one.memory->download(begin, end - begin,
                         static_cast<std::byte*>(to) + static_cast<std::size_t>(begin - first) * bytes);
    CUDA_CHECK(cudaStreamSynchronize(one.memory->stream()));
  });
}

// Both ends of every GPU's part, both sides of some tile borders, and random indices: the same ones for the
// same seed.
std::vector<std::int64_t> array_workload::sample() const {
  const std::int64_t n = size();
  const std::int64_t terms = facts_.layout.terms;
  const std::int64_t wanted =
      std::clamp<std::int64_t>(sample_cost / std::max<std::int64_t>(1, terms), 512, 1 << 16);
  const part own = own_outputs();
  std::set<std::int64_t> chosen;
  const auto add = [&](std::int64_t index) {
    if (index >= own.first && index < own.first + own.count) chosen.insert(index);
  };
  for (std::int64_t k = 0; k < facts_.gpus; ++k) {
    const part held = problem_->parts(k).output;
    for (std::int64_t i = 0; i < wanted / 16; ++i) {
      add(held.first + i);
      add(held.first + held.count - 1 - i);
    }
    // The first that have all their terms in the part.
    for (std::int64_t i = -2; i < wanted / 16; ++i) add(held.first + terms + i);
  }
  const std::int64_t tiles = n / std::max<std::int64_t>(1, facts_.tile);
  for (std::int64_t k = 0; k < wanted && n > 0; ++k) {
    const std::uint64_t bits = random_bits(source_.seed ^ 0x5eed, static_cast<std::uint64_t>(k));
    if (k % 4 == 0 && tiles > 0) {
      const auto border =
          static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(tiles + 1)) * facts_.tile;
      add(border - 1);
      add(border);
    } else {
      add(static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(n)));
    }
  }
  return {chosen.begin(), chosen.end()};
}

// ---- what is compared, and how

std::int64_t array_workload::all_inputs() const {
  return std::accumulate(facts_.layout.inputs.begin(), facts_.layout.inputs.end(), std::int64_t{0},
                         [](std::int64_t sum, const array_member& input) { return sum + input.size(); });
}

std::int64_t array_workload::whole_cost() const {
  constexpr std::int64_t terms_of_run = 16;
  return (facts_.has_reference_run ? terms_of_run : facts_.layout.terms) * size();
}

// Where references are called for one output at a time, what that takes beside their terms counts as well.
std::int64_t array_workload::cost_one_by_one() const {
  constexpr std::int64_t terms_of_call = 16;
  return whole_cost() + (facts_.has_exact_outputs ? 0 : terms_of_call * size());
}

double array_workload::largest_input() const {
  double largest = 0;
  for (const array_member& input : facts_.layout.inputs)
    largest = std::max(largest, largest_magnitude(source_.kind, input.size()));
  return largest;
}

// Whether working out the digests costs more than keeping them: all that is kept travels with every request.
bool array_workload::is_worth_keeping() const {
  constexpr std::int64_t terms_of_stream = 16;
  const std::int64_t cost = streams() ? terms_of_stream * size() : whole_cost();
  return std::max(cost, facts_.has_exact_outputs ? all_inputs() : 0) >= many_to_fold;
}

std::string array_workload::reference_key() const {
  return "digest " + facts_.name + " " + facts_.key + " " + to_string(source_.kind) + " " +
         std::to_string(source_.seed);
}

check_result array_workload::compare() {
  const auto by_sample = [&] {
    const std::vector<std::int64_t> indices = sample();
    return compare_listed(make_comparison(largest_input()), source_, indices, download(indices));
  };
  const auto by_digests = [&] {
    const std::int64_t segment = facts_.has_reference_run
                                     ? std::clamp<std::int64_t>(size() / 256, 1024, streamed_piece)
                                     : std::max<std::int64_t>(1 << 16, (size() + 4095) / 4096);
    const auto key = is_worth_keeping() ? std::optional(reference_key()) : std::nullopt;
    return compare_digests(segment, facts_.has_exact_outputs ? 1 : facts_.layout.terms, key);
  };
  if (facts_.has_reference_run) {
    if (has_exact_results() && facts_.exact_error == 0 && is_worth_keeping()) return by_digests();
    return has_exact_input() || whole_cost() <= max_whole_cost ? compare_in_order(most_compared)
                                                               : by_sample();
  }
  if (facts_.has_stream && has_exact_input() && !has_exact_results() && streams())
    return compare_in_order(most_compared);
  const bool exact = has_exact_results() || bound_ == 0;
  const bool are_many = size() > std::int64_t{1} << 24;
  if (exact && streams() && (are_many || whole_cost() > 16 * size())) return by_digests();
  // Where no two of them share an input: once for all stages.
  if (has_exact_results() && facts_.exact_error == 0 && size() > 1 && is_worth_keeping() &&
      whole_cost() <= all_inputs())
    return by_digests();
  if (whole_cost() <= max_whole_cost) return compare_whole();
  // Results that are updated from one to the next are right where nothing rounds.
  const bool can_have_digests = streams() || (cost_one_by_one() <= max_exact_cost &&
                                              (!facts_.has_exact_outputs || has_exact_results()));
  return exact && can_have_digests ? by_digests() : by_sample();
}

check_result array_workload::compare_whole() {
  const comparison rules = make_comparison(largest_input());
  const std::vector<std::int64_t> all = all_indices();
  const host_values outputs = download(all);
  // What only one output needs is generated where it is needed; what many need, once.
  if (whole_cost() <= all_inputs()) return compare_listed(rules, source_, all, outputs);
  const host_arrays arrays = generated_arrays(facts_.layout, source_);
  return compare_listed(rules, {source_.kind, source_.seed, &arrays}, all, outputs);
}

// At most so many outputs against references that come one after another, in segments. The next segment is
// downloaded meanwhile.
check_result array_workload::compare_in_order(std::int64_t most) {
  constexpr std::int64_t segment = std::int64_t{1} << 23;  // downloaded at once
  static_assert(segment % streamed_piece == 0);
  const comparison rules = make_comparison(largest_input());
  const auto references = problem_->in_order(source_, size(), streamed_piece);
  check_result total;
  std::array<host_values, 2> halves{
      host_values(rules.type, std::min(segment, size())),
      host_values(rules.type, std::clamp(size() - segment, std::int64_t{0}, segment))};
  const page_lock locks[] = {page_lock(halves[0].bytes), page_lock(halves[1].bytes)};
  const std::int64_t pieces = (size() + segment - 1) / segment;
  const auto chosen =
      compared_pieces(pieces, segment, most, source_.seed, special_index(source_.kind, source_.seed));
  const auto bring = [&](std::size_t k) {
    if (k >= chosen.size()) return;
    const std::int64_t first = chosen[k] * segment;
    parts_[0].memory->download(first, std::min(segment, size() - first), halves[k % 2].bytes.data());
  };
  bring(0);
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    const std::int64_t first = chosen[k] * segment;
    const std::int64_t count = std::min(segment, size() - first);
    const host_values& found = halves[k % 2];
    CUDA_CHECK(cudaStreamSynchronize(stream_));
    bring(k + 1);
    std::vector<check_result> parts(threads_for(count, streamed_piece));
    for_pieces_on_all_cores(count, streamed_piece,
                            [&](std::int64_t begin, std::int64_t end, unsigned thread) {
                              references(first + begin, end - begin,
                                         [&](std::int64_t i, const expectation* expected, std::int64_t some) {
                                           rules.judge(expected, i, some, found.at(i - first), parts[thread]);
                                         });
                            });
    rules.add(parts, total);
    if (total.failure) break;
  }
  CUDA_CHECK(cudaStreamSynchronize(stream_));
  return total;
}

check_result array_workload::compare_listed(const comparison& rules, const input_source& source,
                                            const std::vector<std::int64_t>& indices,
                                            const host_values& found) const {
  if (facts_.has_reference_run) {
    const auto near = compare_near(rules, source, indices, found);
    return near ? *near : compare_runs(rules, source, indices, found);
  }
  constexpr std::int64_t some = 64;
  const std::int64_t piece = piece_of(rules.terms, 1024);
  const std::int64_t count = std::ssize(indices);
  return judged_on_all_cores(rules, count, piece, [&](std::int64_t begin, std::int64_t end, auto& result) {
    std::array<expectation, some> expected;
    for (std::int64_t k = begin; k < end; k += some) {
      const std::int64_t now = std::min(some, end - k);
      problem_->references(source, indices.data() + k, now, expected.data());
      rules.judge(expected.data(), indices.data() + k, now, found.at(k), result);
    }
  });
}

// Along the inputs from the first one on: two passes over them.
check_result array_workload::compare_runs(const comparison& rules, const input_source& source,
                                          const std::vector<std::int64_t>& indices,
                                          const host_values& found) const {
  const std::int64_t n = indices.empty() ? 0 : indices.back() + 1;
  const std::int64_t piece = std::clamp<std::int64_t>(n / 256, 1024, streamed_piece);
  const auto references = problem_->in_order(source, n, piece);
  const std::int64_t pieces = std::max<std::int64_t>(1, (n + piece - 1) / piece);
  return judged_on_all_cores(rules, pieces, 1, [&](std::int64_t which, std::int64_t, auto& result) {
    const std::int64_t begin = which * piece;
    auto next = std::lower_bound(indices.begin(), indices.end(), begin);
    const auto end = std::lower_bound(next, indices.end(), begin + piece);
    if (next == end) return;
    references(begin, *(end - 1) + 1 - begin,
               [&](std::int64_t first, const expectation* expected, std::int64_t count) {
                 for (; next != end && *next < first + count; ++next)
                   rules.judge(expected + (*next - first), *next, 1, found.at(next - indices.begin()),
                               result);
               });
  });
}

// Each for itself, where all of them together need few of the inputs.
std::optional<check_result> array_workload::compare_near(const comparison& rules, const input_source& source,
                                                         const std::vector<std::int64_t>& indices,
                                                         const host_values& found) const {
  if (indices.empty()) return std::nullopt;
  const std::int64_t count = std::ssize(indices);
  const std::int64_t most = 2 * indices.back() / count;
  std::atomic<bool> all_near = true;
  check_result total = judged_on_all_cores(rules, count, 1, [&](std::int64_t k, std::int64_t, auto& result) {
    if (!all_near) return;
    const std::int64_t index = indices[static_cast<std::size_t>(k)];
    if (const auto expected = problem_->near(source, index, most)) {
      rules.judge(&*expected, index, 1, found.at(k), result);
    } else {
      all_near = false;
    }
  });
  return all_near ? std::optional(std::move(total)) : std::nullopt;
}

// ---- exact results by their digests

check_result array_workload::compare_digests(std::int64_t segment, std::int64_t terms,
                                             const std::optional<std::string>& key) {
  check_result result;
  std::uint64_t sum = 0;
  std::vector<std::vector<std::uint64_t>> found;
  std::vector<std::vector<std::int64_t>> chosen;
  each([&](gpu_part& one) {
    const part& held = one.memory->output_part();
    found.push_back(one.memory->exact_digests(facts_.exact_unit, segment));
    auto special = special_index(source_.kind, source_.seed);
    if (special) *special -= held.first;
    chosen.push_back(
        compared_pieces(std::ssize(found.back()), segment, most_compared, source_.seed, special));
    for (const std::int64_t which : chosen.back()) {
      sum += found.back()[static_cast<std::size_t>(which)];
      result.compared += std::min(segment, held.count - which * segment);
    }
  });
  const auto digests_of_part = [&](std::size_t k) {
    return right_digests(parts_[k].memory->output_part(), segment, chosen[k], terms);
  };
  const auto work_out = [&] {
    std::uint64_t all = 0;
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      const auto of_part = digests_of_part(k);
      all = std::accumulate(of_part.begin(), of_part.end(), all);
    }
    return std::to_string(all);
  };
  if (std::to_string(sum) == (key ? references::kept(*key, work_out) : work_out())) return result;
  if (facts_.has_reference_run) return compare_in_order(std::numeric_limits<std::int64_t>::max());
  for (std::size_t k = 0; k < parts_.size() && !result.failure; ++k) {
    const part& held = parts_[k].memory->output_part();
    const std::vector<std::uint64_t> expected = digests_of_part(k);
    for (std::size_t j = 0; j < chosen[k].size() && !result.failure; ++j) {
      if (expected[j] == found[k][static_cast<std::size_t>(chosen[k][j])]) continue;
      const std::int64_t begin = held.first + chosen[k][j] * segment;
      result.failure = first_other_output(begin, std::min(segment, held.first + held.count - begin));
    }
  }
  return result;
}

// The digests that array_memory::exact_digests() has of right outputs, of the chosen segments. To work out
// one of the outputs costs `terms` terms.
std::vector<std::uint64_t> array_workload::right_digests(const part& of, std::int64_t segment,
                                                         const std::vector<std::int64_t>& chosen,
                                                         std::int64_t terms) const {
  // Of a segment, by one core.
  const std::int64_t piece = facts_.has_reference_run
                                 ? segment
                                 : piece_of(terms, std::clamp<std::int64_t>(of.count / 64, 1 << 16, segment));
  const std::int64_t pieces = (segment + piece - 1) / piece;
  const std::int64_t last = of.first + of.count;
  const auto keys = exact_keys(last, piece);
  std::vector<std::atomic<std::uint64_t>> sums(chosen.size());
  for_pieces_on_all_cores(std::ssize(chosen) * pieces, 1, [&](std::int64_t which, std::int64_t, unsigned) {
    const std::int64_t segment_begin = of.first + chosen[static_cast<std::size_t>(which / pieces)] * segment;
    const std::int64_t begin = segment_begin + which % pieces * piece;
    const std::int64_t end = std::min({begin + piece, segment_begin + segment, last});
    if (begin >= end) return;
    std::uint64_t sum = 0;
    keys(begin, end - begin, [&](std::int64_t first, const std::uint64_t* some, std::int64_t count) {
      sum += sum_of_hashes(some, first, count);
    });
    sums[static_cast<std::size_t>(which / pieces)] += sum;
  });
  return {sums.begin(), sums.end()};
}

// A function of (first, count, take), for one thread each, that gives the exact keys of outputs below n; with
// a reference_run, from a multiple of `piece` on.
std::function<void(std::int64_t, std::int64_t, const take_keys&)> array_workload::exact_keys(
    std::int64_t n, std::int64_t piece) const {
  if (!facts_.has_reference_run) {
    return [this](std::int64_t first, std::int64_t count, const take_keys& take) {
      problem_->exact_keys(source_, first, count, take);
    };
  }
  return [this, references = problem_->in_order(source_, n, piece)](std::int64_t first, std::int64_t count,
                                                                    const take_keys& take) {
    std::vector<std::uint64_t> keys;
    references(first, count, [&](std::int64_t begin, const expectation* expected, std::int64_t some) {
      keys.resize(static_cast<std::size_t>(some));
      with_element(facts_.layout.output.type, [&](auto zero) {
        for (std::int64_t k = 0; k < some; ++k) {
          keys[static_cast<std::size_t>(k)] =
              exact_key_of(static_cast<decltype(zero)>(expected[k].value), facts_.exact_unit);
        }
      });
      take(begin, keys.data(), some);
    });
  };
}

failure_record array_workload::first_other_output(std::int64_t first, std::int64_t count) {
  const element_type type = facts_.layout.output.type;
  host_values outputs(type, count);
  download(first, count, outputs.bytes.data());
  failure_record failure{.kind = failure_kind::wrong,
                         .expected = "the digest of right outputs",
                         .found = "another, and no wrong output"};
  with_element(type, [&](auto zero) {
    using T = decltype(zero);
    const T* const found = outputs.as<T>();
    const auto compare = [&](std::int64_t begin, const std::uint64_t* keys, std::int64_t some) {
      for (std::int64_t k = 0; k < some && !failure.index; ++k) {
        const std::int64_t index = begin + k;
        if (exact_key_of(found[index - first], facts_.exact_unit) == keys[k]) continue;
        expectation expected;
        problem_->references(source_, &index, 1, &expected);
        failure.index = index;
        failure.expected = number_text(type, expected.value);
        failure.found = number_text(type, static_cast<long double>(found[index - first]));
      }
    };
    problem_->exact_keys(source_, first, count, compare);
  });
  return failure;
}

}  // namespace lab
