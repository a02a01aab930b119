// The harness itself: the verifier rejects each wrong kernel for the right reason, host and device draw the
// same inputs, owners own, and the sampler's arithmetic is right.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "common/memory.hpp"
#include "common/operations.hpp"
#include "common/stream.hpp"
#include "harness/device/fold.hpp"
#include "harness/device/kernels.hpp"
#include "harness/device/measure/ceilings.hpp"
#include "harness/device/measure/timed_launches.hpp"
#include "harness/device/references.hpp"
#include "harness/device/track.hpp"
#include "harness/device/verify/verifier.hpp"
#include "harness/device/worker.hpp"
#include "tests/catch.hpp"
#include "tests/device/device.hpp"
#include "tests/device/verified.hpp"
#if LAB_EMULATED
#include "common/emulator/emulator.hpp"
#endif

using lab::failure_kind;

namespace {

void require_failure(const std::string& name, failure_kind kind, const std::string& words,
                     const std::string& track = "moving_average") {
  const lab::verification_record record = lab::verified(track + "/" + name);
  INFO(name);
  REQUIRE_FALSE(record.passed);
  REQUIRE(record.failure);
  const std::string message = lab::failure_message(*record.failure);
  INFO(message);
  CHECK(record.failure->kind == kind);
  CHECK(message.find(words) != std::string::npos);
}

}  // namespace

TEST_CASE("a wrong kernel is rejected, in words that say what is wrong") {
  SECTION("right but for one output") {
    require_failure("wrong_at_one_index", failure_kind::wrong, "wrong at index 12345: expected ");
    CHECK(lab::verified("moving_average/wrong_at_one_index").failure->block == "96");   // 12345 / 128
    CHECK(lab::verified("moving_average/wrong_at_one_index").failure->thread == "57");  // 12345 % 128
  }
  SECTION("window off by one") {
    require_failure("off_by_one", failure_kind::wrong, "wrong at index 37");
  }
  SECTION("NaN everywhere") {
    require_failure("all_nan", failure_kind::wrong, "found nan");
  }
  SECTION("single precision") {
    require_failure("float_sum", failure_kind::wrong, "wrong at index");
  }
  SECTION("tail never written") {
    require_failure("leaves_tail", failure_kind::unwritten, "was never written");
  }
  SECTION("changes its input") {
    require_failure("changes_input", failure_kind::input_changed, "changed its input");
  }
  SECTION("keeps the first answer") {
    require_failure("returns_previous", lab::emulated ? failure_kind::launch : failure_kind::wrong,
                    lab::emulated ? "a launch must only enqueue work on its stream" : "wrong at index");
  }
  SECTION("traits that do not hold") {
    require_failure("false_drift", failure_kind::wrong, "a stage that declares drifts");
    require_failure("false_leak", failure_kind::wrong, "a stage that declares leaks_nonfinite");
  }
  SECTION("drift without the trait") {
    require_failure("undeclared_drift", failure_kind::wrong, "spikes of 1e16");
  }
  SECTION("other bits without the trait") {
    require_failure("unsteady", failure_kind::wrong, "the same bits as the run before");
  }
  SECTION("launch refused") {
    require_failure("launch_refused", failure_kind::launch, "cudaError");
  }
  SECTION("writes behind its output") {
    require_failure("writes_beyond", failure_kind::out_of_bounds, "a write to the output");
  }
  SECTION("writes in front of its output") {
    require_failure("writes_before", failure_kind::out_of_bounds, "index -1");
  }
}

TEST_CASE("a wrong reduction is rejected, in words that say what is wrong") {
  const auto require = [](const std::string& name, failure_kind kind, const std::string& words) {
    require_failure(name, kind, words, "reduction");
  };
  SECTION("tail dropped") {
    require("drops_tail", failure_kind::wrong, "n=401 ");
  }  // 3 * 128 + 17 = 401
  SECTION("grid assumed") {
    require("grid_assumed", failure_kind::wrong, "n=401 ");
  }
  SECTION("partial results of the run before") {
    require("never_reset", lab::emulated ? failure_kind::launch : failure_kind::wrong,
            lab::emulated ? "a launch must only enqueue work on its stream" : "second launch");
  }
  SECTION("NaN dropped") {
    require("drops_nan", failure_kind::wrong, "expected nan");
  }
  SECTION("no result for no values") {
    require("nothing_for_nothing", failure_kind::unwritten, "n=0 ");
  }
#if !LAB_EMULATED
  // What only a device does: finish blocks in any order, and hold 2^31 values.
  SECTION("order not declared") {
    require("undeclared_order", failure_kind::wrong, "not declared nondeterministic");
  }
  SECTION("order declared, and none") {
    require("false_nondeterminism", failure_kind::wrong, "a stage that declares nondeterministic");
  }
  SECTION("index of 32 bits") {
    require("index_overflow", failure_kind::wrong, "n=2147495993 ");
  }
#endif
  SECTION("padding summed up") {
    require_failure("sums_padding", failure_kind::wrong, "result=rows", "reduction_2d");
  }
  SECTION("a square assumed") {
    require_failure("square_assumed", failure_kind::wrong, "rows=67", "reduction_2d");
  }
}

TEST_CASE("at measured sizes one element or tile that is left out, doubled or moved is found") {
  const auto require = [](const std::string& name, const std::string& track, const std::string& words) {
    require_failure(name, failure_kind::wrong, words, track);
  };
  // None is wrong below these sizes, and each declares a bound that would allow everything.
  SECTION("left out") {
    require("leaves_out_one", "reduction", "input=small integers");
  }
  SECTION("doubled") {
    require("doubles_one", "reduction", "input=small integers");
  }
  SECTION("moved") {
    require("moves_one", "reduction", "input=small integers");
  }
  SECTION("a tile") {
    require("leaves_out_a_tile", "reduction", "input=small integers");
  }
  SECTION("everything") {
    require("returns_zero", "reduction", "found 0");
  }
  SECTION("of a window") {
    require("misses_one_at_size", "moving_average", "input=integers");
  }
  SECTION("of a row or column") {
    require("misses_one_at_size", "reduction_2d", "input=small integers");
  }
  SECTION("of a row, where what is right is worked out once for all stages") {
    lab::skip_without_device();
    const lab::stream stream;
    const std::vector<lab::parameter_values> measured{
        {{"rows", 1500}, {"columns", 900}, {"pitch", 0}, {"result", "rows"}}};
    const auto at_size = [&](const char* stage) {
      return lab::verify(lab::find_stage(stage), {1, 2}, false, stream.get(), measured);
    };
    CHECK(at_size("reduction_2d/01_naive").passed);
    const auto kept = lab::references::worked_out_here();
    CHECK(std::any_of(kept.begin(), kept.end(), [](const auto& one) {
      return one.first.find("digest") == 0 && one.first.find("columns=900") != std::string::npos;
    }));
    const lab::verification_record wrong = at_size("reduction_2d/misses_one_at_size");
    REQUIRE(wrong.failure);
    const std::string message = lab::failure_message(*wrong.failure);
    INFO(message);
    CHECK(message.find("wrong at index 750: expected ") != std::string::npos);
    CHECK(message.find("input=small integers") != std::string::npos);
  }
  SECTION("an output among many") {
    require("one_wrong_at_size", "elementwise", "wrong at index ");
  }
  SECTION("a NaN") {
    const lab::stream stream;
    lab::skip_without_device();
    const lab::verification_record record =
        lab::verify(lab::find_stage("reduction/drops_nan_far"), {1, 2}, false, stream.get(),
                    {{{"n", 1'000'000}, {"type", "float32"}, {"operation", "min"}}});
    REQUIRE(record.failure);
    CHECK(lab::failure_message(*record.failure).find("expected nan") != std::string::npos);
  }
}

TEST_CASE("values, places and sizes that a stage may get wrong alone are tried") {
  const auto require = [](const std::string& path, const std::string& words) {
    const std::size_t slash = path.find('/');
    require_failure(path.substr(slash + 1), failure_kind::wrong, words, path.substr(0, slash));
  };
  SECTION("the largest numbers") {
    require("elementwise/adds_to_exponent", "input=extremes");
  }
  SECTION("the sign of zero") {
    require("elementwise/loses_zero_sign", "expected -0, found 0");
  }
  SECTION("a window of exactly two tiles") {
    require("moving_average/two_tiles_exactly", "window=2048");
  }
  SECTION("a window beyond 16 bits") {
    require("moving_average/window_in_16_bits", "window=131073");
  }
  SECTION("one lane of a block") {
    require("reduction/misses_a_lane", "input=lone maximum");
  }
  SECTION("one NaN") {
    require("reduction/drops_nan_of_lane", "input=lone NaN");
    require("reduction_2d/drops_nan_of_tail", "expected nan");
  }
  SECTION("one Inf") {
    require("reduction/drops_infinity", "expected inf");
  }
  SECTION("many padded rows") {
    require("reduction_2d/padded_and_tall", "columns=261 pitch=264 result=columns rows=3077");
  }
  SECTION("two residues at once") {
    require("shared_tile/forgets_corner", "found 0");
    require("shared_tile/forgets_later", "second launch");  // although its first outputs were right
  }
  SECTION("a length that 8 or 16 bits cut to a right one") {
    require("redact/length_in_8_bits", "expected \"X X\"");
    require("redact/length_in_16_bits", "expected \"X X\"");
  }
  SECTION("a small number in scratch memory that nobody wrote") {
    require("elementwise/left_over_count", "memory of random bytes");
  }
  SECTION("the eighth bit") {
    require("redact/seven_bits", "expected \"X X\"");
  }
}

TEST_CASE("a byte that a histogram leaves out, or counts elsewhere, is found") {
  const auto require = [](const std::string& name, const std::string& words = "wrong at index") {
    require_failure(name, failure_kind::wrong, words, "histogram");
  };
  SECTION("barriers") {
    require("missing_barrier");
  }
  SECTION("zeros") {
    require("bins_not_zeroed");
    require("counts_not_zeroed");
  }
  SECTION("bytes") {
    require("tail_left_out");
    require("signed_index");
    require("zero_not_counted", "wrong at index 0");
  }
  SECTION("counts") {
    require("counts_in_12_bits");
    require("plain_addition");
  }
}

TEST_CASE("a value that a scan leaves out, or combines in another order, is found") {
  const auto require = [](const std::string& name, const std::string& words = "wrong at index",
                          failure_kind kind = failure_kind::wrong) {
    require_failure(name, kind, words, "scan");
  };
  SECTION("steps") {
    require("missing_barrier");
    require("one_buffer");
    require("swapped_operands");
  }
  SECTION("tiles") {
    require("no_carry", "wrong at index 256");
    require("carry_lags");
    require("first_of_tile", "wrong at index 256");
    require("carry_in_32_bits");
  }
  SECTION("results") {
    require("always_inclusive", "kind=exclusive");
    require("tail_left_out", "was never written", failure_kind::unwritten);
  }
}

TEST_CASE("a softmax that overflows, loses a NaN, or leaves a value out is found") {
  const auto require = [](const std::string& name, const std::string& words = "wrong at index") {
    require_failure(name, failure_kind::wrong, words, "softmax");
  };
  SECTION("maximum") {
    require("no_maximum");
    require("maximum_from_zero");
    require("sum_not_scaled");
  }
  SECTION("no numbers") {
    require("nan_dropped", "expected nan");
    require("infinite_minus", "input=NaN and Inf");
  }
  SECTION("sum") {
    require("one_left_out");
    require("next_row");
    require("half_precision");
  }
}

TEST_CASE("a value that a transpose leaves where it was, or moves elsewhere, is found") {
  const auto require = [](const std::string& name, const std::string& words,
                          failure_kind kind = failure_kind::wrong) {
    require_failure(name, kind, words, "transpose");
  };
  SECTION("barrier") {
    require("missing_barrier", "wrong at index");
  }
  SECTION("edges") {
    require("square_assumed", "was never written", failure_kind::unwritten);
    require("vectors_alone", "was never written", failure_kind::unwritten);
    require("last_tile_as_it_is", "wrong at index");
  }
  SECTION("tiles") {
    require("tiles_of_rows", "was never written", failure_kind::unwritten);
  }
  SECTION("swizzle") {
    require("half_swizzle", "wrong at index");
  }
  SECTION("more rows than 16 bits count") {
    require("rows_in_16_bits", "rows=70004", failure_kind::unwritten);
  }
  SECTION("the sign of zero") {
    require("adds_zero", "expected -0, found 0");
  }
}

TEST_CASE("a value that a convolution leaves out, or takes from elsewhere, is found") {
  const auto require = [](const std::string& name, const std::string& words = "wrong at index") {
    require_failure(name, failure_kind::wrong, words, "convolution");
  };
  SECTION("tiles") {
    require("missing_barrier");
    require("no_halo");
    require("halo_of_8");
  }
  SECTION("edges") {
    require("repeats_edge", "edge=mirror");
    require("mirrors_once", "edge=mirror");
    require("skips_zeros", "found inf");
  }
  SECTION("the filter") {
    require("flipped");
    require("transposed_filter");
    require("short_last_row");
  }
}

TEST_CASE("what a stage keeps of launches and questions before is of no use to it") {
  SECTION("answers in scratch memory") {
    require_failure("answers_of_before", failure_kind::wrong, "after a launch on nearly the same input",
                    "elementwise");
  }
  SECTION("the number of questions") {
    require_failure("refuses_by_turn", failure_kind::wrong, "wrong at index", "elementwise");
  }
  SECTION("answers to what looks alike") {
    require_failure("known_by_samples", failure_kind::wrong, "wrong at index 0", "reduction");
  }
  SECTION("offsets of columns of the same size") {
    const auto failure = lab::verified("redact/keeps_offsets").failure;
    REQUIRE(failure);
    CHECK(lab::failure_message(*failure).find("after a launch on nearly the same input") !=
          std::string::npos);
  }
  SECTION("how long ago the last launch was") {
    require_failure("skips_in_a_row", failure_kind::unwritten, "one of two launches in a row", "elementwise");
  }
  SECTION("where its arrays are, when it is asked for its bound") {
    require_failure("repairs_in_bound", failure_kind::wrong, "wrong at index", "elementwise");
  }
  SECTION("that it was asked for its bound before") {
    require_failure("another_bound_later", failure_kind::wrong, "wrong at index 0", "reduction");
  }
#if LAB_EMULATED
  SECTION("its input, which it has put back") {
    require_failure("restores_input", failure_kind::input_changed, "which a launch may only read",
                    "elementwise");
  }
#endif
}

TEST_CASE("what a stage takes for granted of inputs, sizes and memory is tried") {
  SECTION("that hostile values come in short arrays") {
    require_failure("loses_zero_sign_when_large", failure_kind::wrong, "expected -0, found 0", "elementwise");
  }
  SECTION("sizes between those that are listed") {
    require_failure("wrong_in_between", failure_kind::wrong, "wrong at index", "elementwise");
  }
  SECTION("that few digits will do") {
    require_failure("cuts_mantissa", failure_kind::wrong, "wrong at index 0", "reduction");
  }
  SECTION("what the timed values are like") {
    require_failure("leaves_out_the_end", failure_kind::wrong, "input=planted", "reduction");
  }
  SECTION("that nobody measures a NaN where there is no sum") {
    require_failure("leaks_without_sums", failure_kind::wrong, "found nan", "elementwise");
  }
  SECTION("that two bytes of six are not changed at once") {
    require_failure("two_bytes_off", failure_kind::wrong, "expected \"X X\"", "redact");
  }
  SECTION("lengths") {
    require_failure("names_of_thousands", failure_kind::wrong, "row", "redact");
    require_failure("names_of_512", failure_kind::wrong, "row", "redact");
    require_failure("blank_behind_public", failure_kind::wrong, "row", "redact");
  }
  SECTION("squares within the range") {
    require_failure("overflow_is_missing", failure_kind::wrong, "input=large", "ewm");
  }
  SECTION("positive values") {
    require_failure("maximum_from_zero", failure_kind::wrong, "wrong at index 0", "reduction");
  }
  SECTION("a size") {
    require_failure("wrong_at_residue", failure_kind::wrong, "input=small integers", "reduction");
  }
  SECTION("a size, where no tile is named") {
    require_failure("wrong_at_warp_residue", failure_kind::wrong, "wrong at index", "elementwise");
  }
  SECTION("sizes that 16 bits count") {
    require_failure("rows_in_16_bits", failure_kind::wrong, "wrong at index 65536", "reduction_2d");
  }
  SECTION("a type with an operation") {
    require_failure("drops_tail_of_user", failure_kind::wrong, "operation=user type=float64", "reduction");
  }
  SECTION("a byte more") {
    require_failure("public_and_more", failure_kind::wrong, "expected \"X X\"", "redact");
  }
  SECTION("memory that begins with every bit set") {
    require_failure("counts_on_ones", failure_kind::wrong, "memory of ", "reduction");
  }
  SECTION("five bytes of six") {
    require_failure("nearly_public", failure_kind::wrong, "expected \"X X\"", "redact");
  }
  SECTION("that nobody looks at a second launch") {
    require_failure("leaks_on_second", failure_kind::out_of_bounds, "second launch", "redact");
  }
  SECTION("what an output held before") {
    require_failure("leaves_out_late", failure_kind::unwritten, " was never written (", "elementwise");
#if LAB_EMULATED
    // A GPU's NaN has other bits than the poison.
    require_failure("adds_to_output", failure_kind::wrong,
                    "found nan, made of memory that nobody has written", "elementwise");
#endif
  }
#if LAB_EMULATED
  SECTION("what repetitions may do") {
    require_failure("crashes_when_repeated", failure_kind::crash, "far_kernel: block (0,0,0): thread ",
                    "elementwise");
    require_failure("crashes_when_repeated", failure_kind::crash, ", launched once more)", "elementwise");
    require_failure("leaks_later", failure_kind::out_of_bounds, "beyond the column", "redact");
    require_failure("keeps_memory_later", failure_kind::wrong, "did not give back 1000 bytes of 1 allocation",
                    "redact");
  }
  SECTION("the order of a block's threads") {
    require_failure("one_order_only", failure_kind::wrong, "last block and thread first", "reduction");
  }
  SECTION("the order of a grid's blocks") {
    require_failure("first_block_first", failure_kind::wrong, "last block and thread first", "elementwise");
  }
#endif
}

#if LAB_EMULATED
TEST_CASE("flags that the launch before has left are found with any number of OS threads") {
  const lab::emulator::options before = lab::emulator::configuration();
  for (const int threads : {1, 4}) {
    INFO(threads);
    lab::emulator::options wanted = before;
    wanted.threads = threads;
    lab::emulator::configure(wanted);
    const auto first_look = [](const char* stage) {
      const lab::stream on;
      const auto record = lab::verify(lab::find_stage(stage), {1, 2}, false, on.get());
      lab::emulator::reset();
      return record;
    };
    const auto wrong = first_look("reduction/chain_never_cleared");
    REQUIRE(wrong.failure);
    INFO(lab::failure_message(*wrong.failure));
    CHECK(wrong.failure->kind == failure_kind::wrong);
    const auto right = first_look("reduction/chain_cleared");
    INFO((right.failure ? lab::failure_message(*right.failure) : ""));
    CHECK(right.passed);
  }
  lab::emulator::configure(before);
}
#endif

TEST_CASE("a stage that refuses its trials, or answers nonsense of itself, is rejected") {
  SECTION("more scratch memory than there is") {
    require_failure("absurd_workspace", failure_kind::unsupported, " trials", "reduction");
    require_failure("absurd_workspace", failure_kind::unsupported,
                    "it asks for 1152921504606846976 bytes of scratch memory, more than any device has, in ",
                    "reduction");
  }
  SECTION("scratch memory below 0") {
    require_failure("negative_workspace", failure_kind::unsupported,
                    "bytes of scratch memory (-8 as an unsigned number), more than any device has, in ",
                    "elementwise");
  }
  SECTION("all that is measured") {
    require_failure("refuses_measured", failure_kind::unsupported, "it runs nothing of what is measured",
                    "reduction");
  }
  SECTION("most sizes") {
    require_failure("refuses_most", failure_kind::unsupported, "at least half", "reduction");
  }
  SECTION("a bound that is no number") {
    require_failure("bound_of_nan", failure_kind::crash, "relative_error answered", "reduction");
  }
  SECTION("a tile of nothing") {
    require_failure("absurd_tile", failure_kind::crash, "its tile is 0 outputs", "reduction");
  }
}

#if LAB_EMULATED
TEST_CASE("a launch that does more than enqueue work on its stream is rejected, and what it did is named") {
  const auto require = [](const std::string& name, const std::string& words) {
    require_failure(name, failure_kind::launch, words);
  };
  SECTION("another stream") {
    require("own_stream", "stream");
  }
  SECTION("the default stream") {
    require("default_stream", "default stream");
  }
  SECTION("a loop of the host") {
    require("host_loop", "host");
  }
  SECTION("copies") {
    require("copies_to_host", "host");
  }
  SECTION("copies of all data, where it says that it waits") {
    require_failure("doubles_on_the_host", failure_kind::launch, "more than 1 MiB", "elementwise");
  }
  SECTION("allocation") {
    require("allocates", "cudaMallocAsync");
  }
  SECTION("a thread of the host") {
    require("leaves_a_thread", "thread");
  }
  SECTION("rounding") {
    require("rounds_upward", "rounding");
  }
  SECTION("reading far outside its arrays") {
    require_failure("reads_a_tile_beyond", failure_kind::out_of_bounds, "reads at offset");
  }
}
#else
TEST_CASE("device memory that a stage keeps is reported", "[quiet]") {
  const lab::verification_record record = lab::verified("moving_average/keeps_device_memory");
  CHECK(record.passed);
  CHECK(record.kept_bytes >= 90'000'000);
}
#endif

TEST_CASE("every timed launch is proved: its input is new, and what it leaves is looked at") {
  lab::skip_without_device();
  const lab::stream stream;
  const std::int64_t n = lab::emulated ? 500'000 : 50'000'000;
  const auto require = [&](const std::string& stage, const lab::parameter_values& parameters,
                           std::int64_t samples) {
    const auto found =
        lab::verify_and_measure(lab::find_stage(stage), parameters, {1, 2}, {},
                                {.minimum_samples = samples, .time_limit_seconds = 0.1}, stream.get());
    INFO(stage);
    CHECK_FALSE(found.verification.passed);
    CHECK_FALSE(found.timing);
  };
  require("reduction/silent_when_timed", {{"n", n}, {"type", 32}, {"operation", 0}}, 5);
  // Of what may differ from run to run, whether it was written at all.
  require("elementwise/stops_writing", {{"n", n}}, 10);
}

TEST_CASE("a wrong redaction is rejected, in words that say what is wrong") {
  const auto require = [](const std::string& name, failure_kind kind, const std::string& words) {
    require_failure(name, kind, words, "redact");
  };
  SECTION("a code point cut in half") {
    require("cuts_code_point", failure_kind::wrong, "found \"\\xf0 ");
  }
  SECTION("the final offset forgotten") {
    require("forgets_final_offset", failure_kind::wrong, "expected a final offset of ");
    require("forgets_final_offset", failure_kind::wrong,
            "found -1, which is the poison: it was never written");
  }
  SECTION("written at the neighbour's offset") {
    // Two rows begin at 0, and a device decides which of them stays: the first wrong row is 0 or 1.
    require("neighbours_offset", failure_kind::wrong, ": expected \"");
    const auto failure = lab::verified("redact/neighbours_offset").failure;
    CHECK(*failure->index <= (lab::emulated ? 0 : 1));
    CHECK(failure->block == "0");
    CHECK(failure->thread == std::to_string(*failure->index));
  }
  SECTION("private names behind the column") {
    require("leaks_private_name", failure_kind::out_of_bounds, "private text of row ");
    require("leaks_private_name", failure_kind::out_of_bounds, " in unused output, ");
  }
  SECTION("memory kept") {
    require("keeps_memory", failure_kind::wrong, "did not give back 1000 bytes of 1 allocation");
  }
#if !LAB_EMULATED
  // The emulator has no graphs, and nothing there ever waits.
  SECTION("a wait not declared") {
    require("undeclared_synchronises", failure_kind::launch, "a launch must only enqueue work on its stream");
  }
  SECTION("a wait declared, and none") {
    require("false_synchronises", failure_kind::wrong, "a stage that declares synchronises");
  }
#endif
}

TEST_CASE("a reduction's reference is exact, on one core and on all") {
  // Uniform inputs are multiples of 2^-53: their sum is one of integers.
  const std::int64_t n = 3'000'001;
  const lab::generated_values<double> value{lab::pattern::random, 9};
  __extension__ unsigned __int128 exact = 0;
  for (std::int64_t i = 0; i < n; ++i) exact += static_cast<std::uint64_t>(value(i) * 0x1p53);
  const auto expected = static_cast<long double>(exact) * 0x1p-53L;
  const lab::expectation found = lab::fold<lab::sum>(value, n);
  CHECK(std::abs(found.value - expected) <= 1e-17L * expected);
  CHECK(std::abs(found.scale - found.value) <= 1e-12L * found.value);
  CHECK(lab::fold<lab::sum>(value, n).value == found.value);
  CHECK(lab::fold<lab::maximum>([](std::int64_t j) { return j == 4242 ? NAN : static_cast<float>(j); }, 5000)
            .value !=
        lab::fold<lab::maximum>([](std::int64_t j) { return static_cast<float>(j); }, 5000).value);
  CHECK(lab::fold<lab::sum>(value, 0).value == 0);
}

TEST_CASE("inputs made many at a time are those that are made one by one") {
  const auto require_same = []<class T>(T /*element*/) {
    for (std::size_t which = 0; which < std::size(lab::pattern_names); ++which) {
      const auto kind = static_cast<lab::pattern>(which);
      INFO(lab::to_string(kind));
      const lab::generated_values<T> value{kind, 70'007};
      const auto bits = [](T one) {
        std::uint64_t all = 0;
        std::memcpy(&all, &one, sizeof one);
        return all;
      };
      for (const std::int64_t step : {1, 3}) {
        std::vector<T> many(1'037);
        value.values(69'500, step, std::ssize(many), many.data());
        bool same = true;
        for (std::int64_t k = 0; k < std::ssize(many); ++k)
          same = same && bits(many[static_cast<std::size_t>(k)]) == bits(value(69'500 + k * step));
        CHECK(same);
      }
      // In order at two places, and out of it.
      const lab::values_in_order<T> in_order(value);
      bool same = true;
      for (std::int64_t j = 69'000; j < 70'900; ++j) {
        same = same && bits(in_order(j)) == bits(value(j)) && bits(in_order(j - 300)) == bits(value(j - 300));
        if (j % 97 == 0) same = same && bits(in_order(7 * j)) == bits(value(7 * j));
      }
      CHECK(same);
    }
  };
  require_same(double{});
  require_same(float{});
  require_same(std::int64_t{});
  std::vector<std::uint64_t> keys(777);
  std::uint64_t sum = 0;
  for (std::size_t k = 0; k < keys.size(); ++k) {
    keys[k] = lab::random_bits(5, k);
    sum += lab::random_bits(keys[k], 40 + k);
  }
  CHECK(lab::sum_of_hashes(keys.data(), 40, std::ssize(keys)) == sum);
}

TEST_CASE("a reference's sum cancels, overflows and holds infinities as one in long double does") {
  const auto sum = [](const std::vector<double>& values) {
    return lab::sums_of([&](std::int64_t j) { return values[static_cast<std::size_t>(j)]; }, 0,
                        std::ssize(values));
  };
  const double largest = std::numeric_limits<double>::max();
  const double least = std::numeric_limits<double>::denorm_min();
  std::vector<double> cancels;
  for (int k = 0; k < 1000; ++k) cancels.insert(cancels.end(), {1e16, 1, -1e16});
  CHECK(sum(cancels).values == 1000);  // in double 0, or next to it
  CHECK(sum(std::vector<double>(1001, 0.1)).values == 1001 * static_cast<long double>(0.1));
  CHECK(sum(std::vector<double>(777, least)).values == 777 * static_cast<long double>(least));
  CHECK(sum({largest, largest, -largest}).values == static_cast<long double>(largest));
  CHECK(sum({largest, largest}).magnitudes == 2 * static_cast<long double>(largest));
  CHECK(sum({1, -INFINITY, 2}).values == -INFINITY);
  CHECK(sum({INFINITY, 1, INFINITY}).values == INFINITY);
  CHECK(std::isnan(sum({INFINITY, -INFINITY}).values));
  std::vector<double> late(5000, 1);
  late.back() = NAN;
  CHECK(std::isnan(sum(late).values));
  CHECK(sum({}).values == 0);
}

TEST_CASE("the ceiling of a track that only reads is a read of the same bytes") {
  lab::skip_without_device();
  const lab::stream stream;
  const lab::track& track = lab::find_track("reduction");
  const lab::ceiling_need need = track.ceiling(track.complete({{"n", 1'000'003}}), 1);
  CHECK(need.kind == "read");
  CHECK(need.bytes == 4 * 1'000'004);
  const lab::ceiling_record ceiling =
      lab::measure_ceiling(need, {.minimum_samples = 10, .time_limit_seconds = 0.05}, stream.get());
  CHECK(ceiling.timing.median > 0);
  CHECK(ceiling.bytes == need.bytes);
}

TEST_CASE("an expected failure must fail, and as it says") {
  const auto record_of = [](const std::string& name) { return lab::verified("moving_average/" + name); };
  SECTION("one that is right is rejected") {
    const lab::verification_record record = record_of("passes_after_all");
    REQUIRE_FALSE(record.passed);
    CHECK_FALSE(record.failed_as_expected);
    CHECK(lab::failure_message(*record.failure) ==
          "expected a stage that fails as it says (wrong), found a stage that is right on every input");
  }
  SECTION("one that fails otherwise is rejected") {
    const lab::verification_record record = record_of("fails_otherwise");
    REQUIRE_FALSE(record.passed);
    CHECK_FALSE(record.failed_as_expected);
    const std::string message = lab::failure_message(*record.failure);
    INFO(message);
    CHECK(message.find("(unwritten, or wrong: \"found inf\")") != std::string::npos);
    CHECK(message.find("another failure: wrong at index 35") != std::string::npos);
  }
  SECTION("one that fails as expected has not passed, and has no time") {
    lab::skip_without_device();
    const lab::stream stream;
    const auto found = lab::verify_and_measure(lab::find_stage("shared_tile/02_missing_barrier"),
                                               {{"width", 64}, {"height", 64}}, {1, 2}, {}, {}, stream.get());
    CHECK_FALSE(found.verification.passed);
    CHECK(found.verification.failed_as_expected);
    REQUIRE(found.verification.failure);
    // What it finds in shared memory may be what an output holds that was never written.
    CHECK((found.verification.failure->kind == failure_kind::wrong ||
           found.verification.failure->kind == failure_kind::unwritten));
    CHECK_FALSE(found.timing);
  }
#if LAB_EMULATED
  SECTION("a barrier in a branch is named") {
    const lab::verification_record record = lab::verified("shared_tile/03_divergent_barrier");
    CHECK(record.failed_as_expected);
    CHECK(lab::failure_message(*record.failure).find("03_divergent_barrier/stage.cu:") != std::string::npos);
  }
#else
  SECTION("what a device hides is not run there, and the reason is told") {
    CHECK(lab::why_not_runnable(lab::find_stage("shared_tile/03_divergent_barrier"))
              .find("compute capability 7.0") != std::string::npos);
  }
#endif
}

TEST_CASE("host and device draw the same inputs, and a change to one value is found") {
  lab::skip_without_device();
  const lab::stream stream;
  const std::int64_t n = 10'007;
  const auto kind =
      GENERATE(lab::pattern::random, lab::pattern::signed_random, lab::pattern::spikes,
               lab::pattern::nonfinite, lab::pattern::infinite, lab::pattern::denormal, lab::pattern::ramp);
  const lab::device_buffer<double> values(static_cast<std::size_t>(n), stream.get());
  const lab::device_buffer<std::int64_t> first(1, stream.get());
  lab::generate(values.data(), n, kind, 5, stream.get());
  std::vector<double> host(static_cast<std::size_t>(n));
  CUDA_CHECK(
      cudaMemcpyAsync(host.data(), values.data(), values.bytes(), cudaMemcpyDeviceToHost, stream.get()));
  stream.synchronize();
  std::int64_t different = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double expected = lab::input_value<double>(kind, 5, i);
    const double found = host[static_cast<std::size_t>(i)];
    if (!(found == expected || (std::isnan(found) && std::isnan(expected)))) ++different;
  }
  CHECK(different == 0);

  const auto changed_at = [&] {
    lab::find_changed_input(values.data(), n, kind, 5, first.data(), stream.get());
    std::int64_t found = -1;
    CUDA_CHECK(cudaMemcpyAsync(&found, first.data(), sizeof found, cudaMemcpyDeviceToHost, stream.get()));
    stream.synchronize();
    return found;
  };
  CHECK(changed_at() == n);
  const double other = 0.12345;
  CUDA_CHECK(cudaMemcpyAsync(values.data() + 77, &other, sizeof other, cudaMemcpyHostToDevice, stream.get()));
  CHECK(changed_at() == 77);
}

TEST_CASE("random inputs are never zero and evenly spread") {
  double sum = 0;
  double smallest = 1;
  double largest = 0;
  const int n = 100'000;
  for (int i = 0; i < n; ++i) {
    const double value = lab::input_value<double>(lab::pattern::random, 3, i);
    sum += value;
    smallest = std::min(smallest, value);
    largest = std::max(largest, value);
  }
  CHECK(smallest > 0);
  CHECK(largest <= 1);
  CHECK(std::abs(sum / n - 0.5) < 0.005);  // 5 standard deviations of the mean of 1e5 uniform values
}

TEST_CASE("poison is found where it was left, and bits are hashed with their places") {
  lab::skip_without_device();
  const lab::stream stream;
  const std::int64_t n = 1000;
  const lab::device_buffer<double> values(static_cast<std::size_t>(n), stream.get());
  const lab::device_buffer<std::int64_t> first(1, stream.get());
  const lab::device_buffer<std::uint64_t> digest(1, stream.get());
  lab::generate(values.data(), n, lab::pattern::ramp, 0, stream.get());
  lab::poison(values.data() + 500, 1, stream.get());
  lab::find_poison(values.data(), n, first.data(), stream.get());
  std::int64_t found = 0;
  CUDA_CHECK(cudaMemcpyAsync(&found, first.data(), sizeof found, cudaMemcpyDeviceToHost, stream.get()));
  stream.synchronize();
  CHECK(found == 500);

  const auto hash = [&] {
    lab::hash_bits(values.data(), n, digest.data(), stream.get());
    std::uint64_t word = 0;
    CUDA_CHECK(cudaMemcpyAsync(&word, digest.data(), sizeof word, cudaMemcpyDeviceToHost, stream.get()));
    stream.synchronize();
    return word;
  };
  const double pair[2] = {3, 4};
  const double swapped[2] = {4, 3};
  CUDA_CHECK(cudaMemcpyAsync(values.data(), pair, sizeof pair, cudaMemcpyHostToDevice, stream.get()));
  const std::uint64_t before = hash();
  CHECK(hash() == before);
  CUDA_CHECK(cudaMemcpyAsync(values.data(), swapped, sizeof swapped, cudaMemcpyHostToDevice, stream.get()));
  CHECK(hash() != before);
}

TEST_CASE("the sampler takes as many samples as the plan asks, and stops at the time limit", "[quiet]") {
  lab::skip_without_device();
  const lab::stream stream;
  const lab::measure_plan impossible{.minimum_samples = 12, .time_limit_seconds = 1e-6, .spread_target = -1};
  const lab::timing_record timing = lab::measure_floor(impossible, stream.get());
  CHECK(timing.samples.size() == 3);  // however many are the fewest, since eight times the limit has passed
  CHECK(timing.stopped_by == "time limit");
  const lab::measure_plan short_of_time{
      .minimum_samples = 12, .time_limit_seconds = 0.002, .spread_target = -1};
  CHECK(lab::measure_floor(short_of_time, stream.get()).samples.size() >= 12);
  CHECK(timing.median > 0);
  CHECK(timing.minimum <= timing.median);
  CHECK(timing.median <= timing.maximum);
  const lab::measure_plan easy{.minimum_samples = 10, .time_limit_seconds = 10, .spread_target = 1e9};
  CHECK(lab::measure_floor(easy, stream.get()).samples.size() == 10);
  CHECK(lab::measure_floor(easy, stream.get()).stopped_by == "spread");
  const lab::measure_plan endless{.minimum_samples = 10, .time_limit_seconds = 100, .spread_target = -1};
  const lab::timing_record enough = lab::measure_floor(endless, stream.get());
  CHECK(enough.samples.size() == 1000);
  CHECK(enough.stopped_by == "sample limit");
}

TEST_CASE("a measured stage was verified on two seeds, and a wrong one has no time", "[quiet]") {
  lab::skip_without_device();
  const lab::stream stream;
  const lab::measure_plan plan{.minimum_samples = 10, .time_limit_seconds = 0.01};
  const lab::parameter_values parameters{{"n", 5000}, {"window", 9}};
  const auto right = lab::verify_and_measure(lab::find_stage("moving_average/01_naive"), parameters, {7, 8},
                                             {}, plan, stream.get());
  CHECK(right.verification.passed);
  CHECK(right.verification.seeds == std::vector<std::uint64_t>{7, 8});
  REQUIRE(right.timing);
  const auto wrong = lab::verify_and_measure(lab::find_stage("moving_average/off_by_one"), parameters, {7, 8},
                                             {}, plan, stream.get());
  CHECK_FALSE(wrong.verification.passed);
  CHECK_FALSE(wrong.timing);
}

#if LAB_EMULATED
// No GPU needs so long for what a test can wait for.
TEST_CASE("launches that take longer than repetitions may are checked one by one", "[quiet]") {
  const lab::stream stream;
  const lab::measure_plan plan{.minimum_samples = 10, .time_limit_seconds = 0.01};
  const lab::parameter_values parameters{{"n", 900'000}, {"window", 2000}};
  const lab::verification_record proved{.passed = true, .cases = 1, .seeds = {7, 8}, .trials = 1};
  const auto wrong = lab::verify_and_measure(lab::find_stage("moving_average/right_when_watched"), parameters,
                                             {7, 8}, {.made = proved}, plan, stream.get());
  CHECK_FALSE(wrong.timing);
  REQUIRE(wrong.verification.failure);
  const std::string message = lab::failure_message(*wrong.verification.failure);
  INFO(message);
  CHECK(message.find("while timed") != std::string::npos);
  const auto right = lab::verify_and_measure(lab::find_stage("moving_average/01_naive"), parameters, {7, 8},
                                             {.made = proved}, plan, stream.get());
  CHECK(right.verification.passed);
  CHECK(right.timing);
}
#endif

TEST_CASE("references are worked out once, and none from elsewhere makes a right stage fail", "[quiet]") {
  lab::skip_without_device();
  const auto verify_again = [&](const char* stage, const nlohmann::json& references) {
    return lab::worker(0).answer(
        {{"op", "verify"}, {"stage", stage}, {"trial_seed", 77}, {"references", references}});
  };
  for (const char* stage : {"moving_average/01_naive", "elementwise/01_naive"}) {
    INFO(stage);
    const lab::answer_record first = verify_again(stage, nlohmann::json::object());
    CHECK(first.end == lab::answer_end::ok);
    nlohmann::json references = first.content.at("references");
    CHECK(references.size() > 0);
    CHECK(verify_again(stage, references).end == lab::answer_end::ok);
    for (auto& [key, text] : references.items()) text = "1";
    CHECK(verify_again(stage, references).end == lab::answer_end::ok);
  }
  // What was received is used: nothing is worked out.
  lab::references::receive({{"a key", "received"}, {"another key", "received"}});
  CHECK_FALSE(lab::references::distrust_received());  // nothing was used
  CHECK(lab::references::kept("a key", [] { return "worked out"; }) == "received");
  CHECK(lab::references::distrust_received());
  CHECK(lab::references::kept("a key", [] { return "worked out"; }) == "worked out");
  CHECK(lab::references::kept("another key", [] { return "worked out"; }) == "received");
  lab::references::forget_use();
  CHECK_FALSE(lab::references::distrust_received());
  // A digest of sums is worked out of sums, on another thread.
  CHECK(lab::references::kept("outer", [] {
          std::string inner;
          std::thread([&] { inner = lab::references::kept("inner", [] { return "worked out"; }); }).join();
          return inner;
        }) == "worked out");
  CHECK(
      lab::worker(0).answer({{"op", "verify"}, {"stage", "elementwise/01_naive"}, {"references", 3}}).error ==
      lab::error_kind::usage);
}

TEST_CASE("a proof tells how far it is") {
  lab::skip_without_device();
  std::vector<std::string> told;
  lab::worker worker(0, [&](const std::string& what) { told.push_back(what); });
  const lab::answer_record answer =
      worker.answer({{"op", "verify"}, {"stage", "elementwise/01_naive"}, {"thorough", false}});
  REQUIRE(answer.end == lab::answer_end::ok);
  REQUIRE_FALSE(told.empty());
  CHECK(told[0].find("trial 1 of ") == 0);
}

TEST_CASE("a worker answers what it is asked, and says what is wrong with a request") {
  lab::skip_without_device();
  lab::worker worker(0);
  const auto ask = [&](const char* text) { return worker.answer(nlohmann::json::parse(text)); };
  CHECK(ask(R"({"op": "describe"})").end == lab::answer_end::ok);
  CHECK(ask(R"({"op": "verify", "stage": "elementwise/01_naive", "thorough": false})").end ==
        lab::answer_end::ok);
  CHECK(ask(R"({"op": "once", "stage": "elementwise/01_naive", "parameters": {"n": 100}})").end ==
        lab::answer_end::ok);
  CHECK(ask(R"({"op": "verify", "stage": "moving_average/off_by_one"})").end == lab::answer_end::failed);
  CHECK(ask(R"({"op": "verify", "stage": "moving_average/passes_after_all"})").end ==
        lab::answer_end::failed);
  const lab::answer_record expected = ask(R"({"op": "verify", "stage": "shared_tile/02_missing_barrier"})");
  CHECK(expected.end == lab::answer_end::ok);
  CHECK(expected.content.at("verification").at("passed") == false);
  CHECK(expected.content.at("verification").at("failed_as_expected") == true);
  CHECK(ask(R"({"op": "once", "stage": "moving_average/passes_after_all", "parameters": {"n": 100}})").end ==
        lab::answer_end::failed);
#if LAB_EMULATED
  // Whole tiles do not show the fault; the trials do.
  const lab::answer_record whole = ask(
      R"({"op": "once", "stage": "shared_tile/03_divergent_barrier", "parameters": {"width": 16, "height": 16}})");
  CHECK(whole.end == lab::answer_end::ok);
  CHECK(whole.content.at("verification").at("failed_as_expected") == true);
  CHECK(whole.sticky);
  lab::emulator::reset();
#endif
  for (const char* bad :
       {R"({"op": "dance"})", R"({"op": "verify"})", R"({"op": "verify", "stage": "no/where"})", R"([1])",
        R"({"op": "once", "stage": "elementwise/01_naive", "parameters": {"n": -1}})",
        R"({"op": "once", "stage": "elementwise/01_naive", "parameters": {"window": 1}})"}) {
    INFO(bad);
    const lab::answer_record answer = ask(bad);
    CHECK(answer.end == lab::answer_end::error);
    CHECK(answer.error == lab::error_kind::usage);
  }
  const lab::answer_record large =
      ask(R"({"op": "once", "stage": "elementwise/01_naive", "parameters": {"n": 281474976710656}})");
  CHECK(large.error == lab::error_kind::memory);
  CHECK(large.needed_bytes.value_or(0) > 2 * 281474976710656 * 8);
  CHECK(large.free_bytes.value_or(0) > 0);
  CHECK(worker.answer(nlohmann::json::parse(R"({"op": "describe"})")).end == lab::answer_end::ok);
  lab::worker elsewhere(99);
  CHECK(
      elsewhere.answer(nlohmann::json::parse(R"({"op": "verify", "stage": "elementwise/01_naive"})")).error ==
      lab::error_kind::environment);
}

#if LAB_EMULATED
// The last of all: the emulator is lost to this process afterwards, as a device would be.
TEST_CASE("a barrier that part of the block waits at is found by the emulator") {
  require_failure("barrier_in_branch", failure_kind::crash, "wait at this barrier", "reduction");
}
#endif
