#include "cache/once_map.h"

#include <atomic>
#include <latch>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"

namespace onepass::cache {
namespace {

TEST(OnceMapTest, MakesOnceAndKeeps) {
  OnceMap<std::string, int> map;
  int made = 0;
  auto make = [&]() -> absl::StatusOr<int> { return ++made; };
  absl::StatusOr<int*> first = map.GetOrMake("key", make);
  absl::StatusOr<int*> second = map.GetOrMake("key", make);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(**first, 1);
  EXPECT_EQ(*first, *second) << "the very same value";
  EXPECT_EQ(map.size(), 1);
}

TEST(OnceMapTest, FindNeverMakes) {
  OnceMap<std::string, int> map;
  EXPECT_EQ(map.Find("key"), nullptr);
  ASSERT_TRUE(map.GetOrMake("key", []() -> absl::StatusOr<int> { return 7; }).ok());
  ASSERT_NE(map.Find("key"), nullptr);
  EXPECT_EQ(*map.Find("key"), 7);
}

TEST(OnceMapTest, SecondCallerWaitsForFirst) {
  OnceMap<std::string, int> map;
  std::latch first_makes(1), first_may_finish(1);
  std::thread first([&] {
    (void)map.GetOrMake("key", [&]() -> absl::StatusOr<int> {
      first_makes.count_down();
      first_may_finish.wait();
      return 1;
    });
  });
  first_makes.wait();
  std::atomic<bool> second_returned = false;
  absl::StatusOr<int*> got;
  std::thread second([&] {
    got = map.GetOrMake("key", []() -> absl::StatusOr<int> { return 2; });
    second_returned = true;
  });
  absl::SleepFor(absl::Milliseconds(30));
  EXPECT_FALSE(second_returned);
  EXPECT_EQ(map.Find("key"), nullptr) << "a value in the making is not there yet";
  first_may_finish.count_down();
  first.join();
  second.join();
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(**got, 1);
}

TEST(OnceMapTest, DifferentKeysAreMadeAtTheSameTime) {
  OnceMap<std::string, int> map;
  std::latch slow_makes(1), slow_may_finish(1);
  std::thread slow([&] {
    (void)map.GetOrMake("slow", [&]() -> absl::StatusOr<int> {
      slow_makes.count_down();
      slow_may_finish.wait();
      return 1;
    });
  });
  slow_makes.wait();
  EXPECT_TRUE(map.GetOrMake("quick", []() -> absl::StatusOr<int> { return 2; }).ok());
  slow_may_finish.count_down();
  slow.join();
}

TEST(OnceMapTest, FailureIsNotRemembered) {
  OnceMap<std::string, int> map;
  absl::StatusOr<int*> failed = map.GetOrMake(
      "key", []() -> absl::StatusOr<int> { return absl::AbortedError("no compiler"); });
  EXPECT_EQ(failed.status(), absl::AbortedError("no compiler"));
  EXPECT_EQ(map.size(), 0);
  absl::StatusOr<int*> made = map.GetOrMake("key", []() -> absl::StatusOr<int> { return 3; });
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(**made, 3);
}

TEST(OnceMapTest, WaitersOfAFailedMakerGetItsError) {
  OnceMap<std::string, int> map;
  std::latch makes(1), may_fail(1);
  std::thread maker([&] {
    (void)map.GetOrMake("key", [&]() -> absl::StatusOr<int> {
      makes.count_down();
      may_fail.wait();
      return absl::AbortedError("no compiler");
    });
  });
  makes.wait();
  absl::Status status;
  std::thread waiter(
      [&] { status = map.GetOrMake("key", []() -> absl::StatusOr<int> { return 1; }).status(); });
  absl::SleepFor(absl::Milliseconds(30));
  may_fail.count_down();
  maker.join();
  waiter.join();
  EXPECT_EQ(status, absl::AbortedError("no compiler"));
}

TEST(OnceMapTest, MakerThatThrowsStrandsNobody) {
  OnceMap<std::string, int> map;
  EXPECT_THROW(
      (void)map.GetOrMake(
          "key", []() -> absl::StatusOr<int> { throw std::runtime_error("out of memory"); }),
      std::runtime_error);
  EXPECT_TRUE(map.GetOrMake("key", []() -> absl::StatusOr<int> { return 1; }).ok());
}

TEST(OnceMapTest, MakerMayAskForOtherKeys) {
  OnceMap<int, int> map;
  auto leaf = []() -> absl::StatusOr<int> { return 20; };
  auto made = map.GetOrMake(1, [&]() -> absl::StatusOr<int> {
    absl::StatusOr<int*> other = map.GetOrMake(2, leaf);
    return **other + 1;
  });
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(**made, 21);
}

TEST(OnceMapTest, ValuesMayBeMoveOnlyAndStayInPlace) {
  OnceMap<int, std::unique_ptr<int>> map;
  std::vector<std::unique_ptr<int>*> places;
  for (int i = 0; i < 1000; ++i) {
    auto made = map.GetOrMake(
        i, [i]() -> absl::StatusOr<std::unique_ptr<int>> { return std::make_unique<int>(i); });
    ASSERT_TRUE(made.ok());
    places.push_back(*made);
  }
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(map.Find(i), places[i]);
    EXPECT_EQ(**places[i], i);
  }
}

struct CollidingHash {
  size_t operator()(int) const { return 7; }
};

TEST(OnceMapTest, KeysWithTheSameHashAreKeptApart) {
  OnceMap<int, int, CollidingHash> map;
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(map.GetOrMake(i, [i]() -> absl::StatusOr<int> { return i; }).ok());
  }
  for (int i = 0; i < 200; ++i) EXPECT_EQ(*map.Find(i), i);
  EXPECT_EQ(map.Find(200), nullptr);
}

TEST(OnceMapTest, ManyThreadsManyKeysOneMakeEach) {
  OnceMap<int, std::string> map;
  constexpr int kKeys = 500;
  std::vector<std::atomic<int>> makes(kKeys);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 4 * kKeys; ++round) {
        int key = (round * 7 + t * 131) % kKeys;
        auto got = map.GetOrMake(key, [&, key]() -> absl::StatusOr<std::string> {
          // Every third first try fails.
          if (makes[key].fetch_add(1) == 0 && key % 3 == 0) return absl::AbortedError("once");
          return absl::StrCat("value ", key);
        });
        if (got.ok() && **got != absl::StrCat("value ", key)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(map.size(), kKeys);
  for (int key = 0; key < kKeys; ++key) EXPECT_EQ(makes[key], key % 3 == 0 ? 2 : 1) << key;
}

}  // namespace
}  // namespace onepass::cache
