package elasticjob.peer;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.text.ParseException;
import java.util.Date;
import java.util.StringJoiner;
import java.util.TimeZone;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.quartz.CronExpression;

/**
 * When expressions fire, as Quartz finds it. Each line of the input has a zone, the epoch second to start after, how many
 * fires are wanted, and the expression, with tabs between them. Each is answered with a line: {@code ok} and the fires as
 * epoch seconds, {@code err} and why, or {@code hang} where Quartz finds no end.
 */
final class Fires {

    private static final long PATIENCE_SECONDS = 5;

    private Fires() {
    }

    static void main(final String[] arguments) throws Exception {
        if (0 != arguments.length) {
            throw new UsageException("without arguments");
        }
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        ExecutorService thread = newThread();
        for (String line = lines.readLine(); null != line; line = lines.readLine()) {
            String[] fields = line.split("\t", 4);
            Future<String> answer = thread.submit(() -> answer(fields));
            try {
                answers.println(answer.get(PATIENCE_SECONDS, TimeUnit.SECONDS));
            } catch (final TimeoutException ex) {
                answers.println("hang");
                // The one that hangs cannot be stopped.
                thread = newThread();
            } catch (final ExecutionException ex) {
                throw new IllegalArgumentException(line, ex);
            }
        }
        answers.flush();
    }

    private static ExecutorService newThread() {
        return Executors.newSingleThreadExecutor(task -> {
            Thread result = new Thread(task);
            result.setDaemon(true);
            return result;
        });
    }

    private static String answer(final String[] fields) {
        CronExpression expression;
        try {
            expression = new CronExpression(fields[3]);
        } catch (final ParseException | RuntimeException ex) {
            return "err\t" + String.valueOf(ex.getMessage()).replaceAll("\\s+", " ");
        }
        expression.setTimeZone(TimeZone.getTimeZone(fields[0]));
        Date at = new Date(1000L * Long.parseLong(fields[1]));
        var fires = new StringJoiner(",");
        for (int left = Integer.parseInt(fields[2]); left > 0; left--) {
            at = expression.getTimeAfter(at);
            if (null == at) {
                break;
            }
            fires.add(Long.toString(at.getTime() / 1000));
        }
        return "ok\t" + fires;
    }
}
