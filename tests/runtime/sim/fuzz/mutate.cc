#include "tests/runtime/sim/fuzz/mutate.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace onepass::sim {
namespace {

constexpr size_t kMostBytes = 1 << 18;

void FlipByte(const Mutable& in) {
  in.text[in.random.Below(in.text.size())] ^= static_cast<char>(1 << in.random.Below(8));
}

void ReplaceByte(const Mutable& in) {
  constexpr std::string_view kBytes = "}{;,.%[]@!x0()<>:+-|=\"/*\n\0\xff_$ 9";
  in.text[in.random.Below(in.text.size())] = kBytes[in.random.Below(kBytes.size())];
}

void DeleteBytes(const Mutable& in) {
  in.text.erase(in.random.Below(in.text.size()), in.random.Below(16) + 1);
}

void RepeatByte(const Mutable& in) {
  const size_t at = in.random.Below(in.text.size());
  in.text.insert(at, size_t{1} << in.random.Below(14), in.text[at]);
}

void Truncate(const Mutable& in) { in.text.resize(in.random.Below(in.text.size())); }

void Splice(const Mutable& in) {
  const std::string& other = in.Other();
  in.text.resize(in.random.Below(in.text.size()));
  in.text += other.substr(in.random.Below(other.size()));
}

void Nest(const Mutable& in) {
  constexpr const char* kOpening[] = {"{", "(", "[", "{{", "({", "a[", "/*", "\"", "0x", "{ L: "};
  const std::string opening = kOpening[in.random.Below(std::size(kOpening))];
  std::string nest;
  for (uint64_t i = uint64_t{1} << in.random.Below(13); i > 0; --i) nest += opening;
  in.text.insert(in.random.Below(in.text.size()), nest);
}

constexpr Mutation kByteMutations[] = {FlipByte, ReplaceByte, DeleteBytes, RepeatByte,
                                       Truncate, Splice,      Nest};

}  // namespace

std::string MutatedInput(const std::vector<std::string>& corpus, uint64_t seed, uint64_t number) {
  Random random(seed, number);
  std::string text = corpus[random.Below(corpus.size())];
  const Mutable in{text, corpus, random};
  const uint64_t launch = random.Next();
  const uint64_t rounds = random.Below(100) == 0 ? 0 : uint64_t{1} << random.Below(4);
  // Broken text tests the parser alone: most inputs get none of it.
  const bool broken = random.Below(8) == 0;
  for (uint64_t i = 0; i < rounds; ++i) {
    const std::span<const Mutation> mutations = broken && random.Below(2) == 0
                                                    ? std::span(kByteMutations)
                                                : random.Below(3) == 0 ? LineMutations()
                                                                       : TokenMutations();
    mutations[random.Below(mutations.size())](in);
    if (text.size() > kMostBytes) text.resize(kMostBytes);
    if (text.empty()) break;
  }
  return absl::StrCat("//launch ", launch, "\n", text);
}

}  // namespace onepass::sim
