// A complete Plyhouse bot: protocol v1 over the subprotocol plyhouse.v1+json, with the standard
// library and POSIX sockets alone.
//
// Usage: bot --server URL --token TOKEN --seek GAME [--rated] [--bot NAME] [--time-control T]
//        [--matches N], or bot --stdio, which speaks by lines on standard input and output.
// Exit codes: 0 all matches played, 1 no server, 2 wrong options, 4 refused.

#include "json.hpp"
#include "socket.hpp"

#include <chrono>
#include <iostream>
#include <set>
#include <thread>
#include <utility>

[[noreturn]] void quit(int code, const string &line) {
  std::cout << line << std::endl;
  std::exit(code);
}

/// Chooses an action: your bot begins here. This one plays at random, in every game.
string choose(const Json &observation) {
  Json::List legal = observation.list("legal");
  return legal.at(random_below(legal.size())).as<string>();
}

const string usage =
    "usage: bot --server URL --token TOKEN --seek GAME [--rated] [--bot NAME]\n"
    "           [--time-control T] [--matches N]\n"
    "       bot --stdio";
const int first_attempts = 6;
const std::set<string> fatal = {"auth/bad_token", "auth/revoked",  "auth/disabled",
                                "auth/scope",     "auth/bad_name", "auth/limit",
                                "auth/replaced",  "protocol/version"};

using Fields = std::vector<std::pair<string, string>>; // names, and values as JSON

class Bot {
public:
  explicit Bot(std::map<string, string> given) : options(std::move(given)) {}

  /// Connects, and connects again after every break, waiting longer each time.
  [[noreturn]] void run() {
    string server = options["server"];
    if (server.rfind("http://", 0) != 0) quit(2, "--server takes an address with http://");
    string host = server.substr(7, server.find('/', 7) - 7), port = "80";
    if (size_t colon = host.rfind(':'); colon != string::npos) {
      port = host.substr(colon + 1);
      host.resize(colon);
    }
    for (int failures = 1;; ++failures) {
      string why;
      try {
        Socket opened(host, port, "/ws", "plyhouse.v1+json");
        socket = &opened;
        hello();
        while (true) {
          string frame = socket->receive();
          if (receive(frame)) failures = 0;
        }
      } catch (const Lost &error) {
        why = error.what();
      }
      if (leaving) quit(0, "all matches played");
      if (session.empty() && failures >= first_attempts)
        quit(1, "no Plyhouse server at " + server + ": " + why);
      int longest = std::min(30'000, 500 << std::clamp(failures - 1, 0, 6));
      int wait = longest / 2 + static_cast<int>(random_below(longest / 2 + 1));
      std::cout << "connection lost (" << why << "); next attempt in " << wait << " ms" << std::endl;
      std::this_thread::sleep_for(std::chrono::milliseconds(wait));
    }
  }

  /// Plays by lines, as programs do that a server hosts, until the input ends.
  void serve() {
    std::cout.rdbuf(std::cerr.rdbuf()); // standard output has the messages
    Socket lines;
    socket = &lines;
    hello();
    try {
      while (true) receive(socket->receive());
    } catch (const Lost &) {
    }
  }

private:
  void hello() {
    requests.clear();
    seeking = false; // the server withdraws the seeks of a lost connection
    request("hello",
            {{"token", quote(options["token"])},
             {"bot", quote(options["bot"])},
             {"games", options["seek"].empty() ? "[]" : "[" + quote(options["seek"]) + "]"},
             {"client", quote("cpp-example/1.0")},
             {"session", quote(session)},
             // The server may not have noticed yet that the old connection is gone.
             {"takeover", session.empty() ? "false" : "true"}});
  }

  /// Sends a request; the answer has its id in `re`.
  void request(const string &type, const Fields &fields) {
    requests[++last_id] = type;
    string message = "{\"type\":" + quote(type) + ",\"id\":" + std::to_string(last_id);
    for (auto &[name, value] : fields) message += "," + quote(name) + ":" + value;
    socket->send_text(message + "}");
  }

  /// Handles a message; returns whether it was the welcome of a new connection.
  bool receive(const string &frame) {
    Json message;
    try {
      message = Parser::parse(frame);
    } catch (const std::exception &error) {
      quit(1, "cannot read " + frame + ": " + error.what());
    }
    auto answered = requests.extract(message.number("re"));
    string type = message.text("type");
    if (type == "welcome") {
      welcome(message);
    } else if (type == "ping") {
      // A bot that thinks for long does so in another thread, and answers meanwhile.
      socket->send_text("{\"type\":\"pong\",\"re\":" + std::to_string(message.number("id")) + "}");
    } else if (type == "match") {
      enter(message.get("snapshot"));
    } else if (type == "turn") {
      play(message.text("match"), message.number("ply"), message.get("observation"));
    } else if (type == "finished") {
      finished(message.text("match"), message.get("outcome"));
    } else if (type == "challenged") {
      // The challenger chooses the clock, so rated matches come by our own seeks only.
      string accept = message.get("rated").as<bool>() ? "false" : "true";
      request("answer", {{"challenge", quote(message.text("challenge"))}, {"accept", accept}});
    } else if (type == "notice") {
      std::cout << "notice " << message.text("message") << std::endl;
    } else if (type == "error") {
      string asked = answered.empty() ? "" : answered.mapped();
      string shown = message.text("code") + ": " + message.text("message");
      if (fatal.count(message.text("code")) || (asked == "hello" && session.empty())) quit(4, shown);
      if (asked == "hello") throw Lost(shown); // the server lacks its database, say: our matches wait
      if (asked == "seek") quit(1, "cannot seek: " + shown);
      std::cout << "refused " << asked << ": " << shown << std::endl; // a late answer, for instance
    } // others are ok, accepted, update, and messages of newer servers
    return type == "welcome";
  }

  void welcome(const Json &message) {
    std::cout << "connected as " << message.text("player") << "/" << message.text("bot") << std::endl;
    session = message.text("session");
    socket->patience(2 * message.number("heartbeat_ms") + 1000);
    std::set<string> running;
    for (auto &snapshot : message.list("matches")) {
      running.insert(snapshot.text("match"));
      enter(snapshot);
    }
    for (auto &[match, seat] : std::map(seats))
      if (!running.count(match)) finished(match, Json()); // it ended while we were away
    seek();
  }

  /// Asks for the matches that are missing.
  void seek() {
    long missing = wanted() - static_cast<long>(over.size() + seats.size());
    if (seeking || missing <= 0 || options["seek"].empty()) return;
    seeking = true;
    request("seek", {{"game", quote(options["seek"])},
                     {"time_control", quote(options["time-control"])},
                     {"rated", options["rated"]},
                     {"count", std::to_string(missing)}});
  }

  /// Takes a match as the server shows it: at its beginning, or after a reconnect.
  void enter(const Json &snapshot) {
    string match = snapshot.text("match"), status = snapshot.text("status");
    if (over.count(match)) return;
    seats[match] = snapshot.number("seat");
    if (status == "finished") {
      finished(match, snapshot.get("outcome"));
    } else if (status == "waiting") {
      // Our part of the randomness: with it, the server alone cannot choose the dice.
      string nonce = random_digits("0123456789abcdef", 32);
      request("ready", {{"match", quote(match)}, {"nonce", quote(nonce)}});
    } else if (snapshot.get("your_turn").as<bool>()) {
      play(match, snapshot.number("ply"), snapshot.get("observation"));
    }
  }

  void play(const string &match, long ply, const Json &observation) {
    request("act", {{"match", quote(match)},
                    {"ply", std::to_string(ply)},
                    {"action", quote(choose(observation))}});
  }

  void finished(const string &match, const Json &outcome) {
    auto seat = seats.extract(match);
    if (seat.empty()) return;
    over.insert(match);
    std::cout << "finished " << match << ": ";
    Json::List returns = outcome.list("returns");
    if (size_t(seat.mapped()) < returns.size())
      std::cout << outcome.text("termination") << ", we got "
                << returns[size_t(seat.mapped())].as<double>() << std::endl;
    else
      std::cout << "unknown" << std::endl;
    if (static_cast<long>(over.size()) >= wanted() && seats.empty()) {
      leaving = true;
      request("bye", {});
    }
  }

  long wanted() const {
    long number = std::atol(options.at("matches").c_str());
    if (number <= 0) quit(2, "--matches takes a number");
    return number;
  }

  std::map<string, string> options;
  Socket *socket = nullptr;
  std::map<string, long> seats; // our seat in each running match
  std::set<string> over;
  std::map<long, string> requests; // the types of the open requests, by id
  long last_id = 0;
  string session;
  bool seeking = false, leaving = false;
};

int main(int count, char **arguments) {
  std::map<string, string> options = {
      {"server", "http://127.0.0.1:8765"}, {"bot", "cpp"}, {"time-control", "move:2"},
      {"matches", "1"}, {"seek", ""}, {"token", ""}, {"rated", "false"}, {"stdio", ""}};
  for (int i = 1; i < count; i++) {
    string name = string(arguments[i]).substr(0, 2) == "--" ? arguments[i] + 2 : "";
    if (name == "help") quit(0, usage);
    if (name == "rated" || name == "stdio") {
      options[name] = "true";
      continue;
    }
    if (i + 1 == count || !options.count(name))
      quit(2, string("unknown or incomplete option: ") + arguments[i] + "\n" + usage);
    options[name] = arguments[++i];
  }
  if (!options["stdio"].empty()) return Bot(options).serve(), 0;
  if (options["token"].empty()) quit(2, "give the token of your player with --token");
  Bot(options).run();
}
