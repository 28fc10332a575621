package elasticjob.peer;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What is measured, by the options of the Rust program. */
record BenchArguments(String zookeeper, String namespace, String cron, int jobs, int items, int seconds, boolean monitored,
        boolean failover, boolean oneOff) {

    private static final String USAGE = "--zookeeper HOST:PORT [--namespace NAME] --jobs J --items N --seconds S [--cron EXPR]"
            + " [--no-monitor] [--failover] [--one-off]";

    private static final List<String> NEEDED = List.of("--zookeeper", "--jobs", "--items", "--seconds");

    private static final List<String> OPTIONAL = List.of("--namespace", "--cron");

    private static final List<String> FLAGS = List.of("--no-monitor", "--failover", "--one-off");

    static BenchArguments parse(final String[] arguments) throws UsageException {
        Map<String, String> values = new HashMap<>();
        Set<String> flags = new HashSet<>();
        Iterator<String> words = Arrays.asList(arguments).iterator();
        while (words.hasNext()) {
            String word = words.next();
            if (FLAGS.contains(word)) {
                flags.add(word);
            } else if ((NEEDED.contains(word) || OPTIONAL.contains(word)) && words.hasNext()) {
                values.put(word, words.next());
            } else {
                throw new UsageException(USAGE);
            }
        }
        if (!values.keySet().containsAll(NEEDED)) {
            throw new UsageException(USAGE);
        }
        String fresh = "bench-" + ProcessHandle.current().pid() + "-" + Begins.now();
        try {
            return new BenchArguments(values.get("--zookeeper"), values.getOrDefault("--namespace", fresh),
                    values.getOrDefault("--cron", "* * * * * ?"), Integer.parseInt(values.get("--jobs")),
                    Integer.parseInt(values.get("--items")), Integer.parseInt(values.get("--seconds")),
                    !flags.contains("--no-monitor"), flags.contains("--failover"), flags.contains("--one-off"));
        } catch (final NumberFormatException ex) {
            throw new UsageException(USAGE);
        }
    }
}
