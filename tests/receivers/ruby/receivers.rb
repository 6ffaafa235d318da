# The Ruby of docs/webhooks.md, by hand, against the vectors, and against what a real service sent.

require "json"
require_relative "extracted/by_hand"

paths = ENV.fetch("VECTORS").split(":") << ENV.fetch("RECEIVED")
vectors = paths.flat_map { |path| JSON.parse(File.read(path))["vectors"] }
wrong = vectors.reject do |vector|
  genuine?(vector["body"], vector["headers"], vector["secret"]) == (vector["expected"]["service"] == "valid")
end
wrong.each { |vector| puts "wrong: #{vector["name"]}" }
exit wrong.empty?
