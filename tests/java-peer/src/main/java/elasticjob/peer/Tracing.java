package elasticjob.peer;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.mysql.cj.jdbc.MysqlDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.apache.shardingsphere.elasticjob.tracing.event.JobExecutionEvent;
import org.apache.shardingsphere.elasticjob.tracing.event.JobExecutionEvent.ExecutionSource;
import org.apache.shardingsphere.elasticjob.tracing.event.JobStatusTraceEvent;
import org.apache.shardingsphere.elasticjob.tracing.event.JobStatusTraceEvent.Source;
import org.apache.shardingsphere.elasticjob.tracing.event.JobStatusTraceEvent.State;
import org.apache.shardingsphere.elasticjob.tracing.rdb.listener.RDBTracingListener;
import org.apache.shardingsphere.elasticjob.tracing.rdb.storage.RDBJobEventStorage;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Traces to a database: {@code write} makes the tables when they are missing, and writes the events of a run; {@code read}
 * prints what the tables have of a task as one JSON object.
 */
final class Tracing {

    /** What the console lists of executions. */
    private static final String EXECUTIONS = "SELECT id, job_name, task_id, hostname, ip, sharding_item, execution_source, "
            + "failure_cause, is_success, start_time, complete_time FROM JOB_EXECUTION_LOG WHERE task_id = ? ORDER BY start_time, id";

    private static final Gson GSON = new GsonBuilder().serializeNulls().disableHtmlEscaping().setDateFormat("yyyy-MM-dd HH:mm:ss").create();

    private Tracing() {
    }

    static void main(final String[] arguments) throws Exception {
        if (5 != arguments.length) {
            throw new UsageException("URL USER PASSWORD write|read TASK");
        }
        DataSource database = open(arguments[0], arguments[1], arguments[2]);
        String task = arguments[4];
        switch (arguments[3]) {
            case "write" -> write(database, task);
            case "read" -> System.out.println(GSON.toJson(Map.of("states", states(database, task), "executions", executions(database, task))));
            default -> throw new UsageException("URL USER PASSWORD write|read TASK");
        }
    }

    private static DataSource open(final String url, final String user, final String password) {
        if (url.startsWith("jdbc:mysql:")) {
            MysqlDataSource result = new MysqlDataSource();
            result.setUrl(url);
            result.setUser(user);
            result.setPassword(password);
            return result;
        }
        PGSimpleDataSource result = new PGSimpleDataSource();
        result.setUrl(url);
        result.setUser(user);
        result.setPassword(password);
        return result;
    }

    private static void write(final DataSource database, final String task) throws SQLException {
        RDBTracingListener listener = new RDBTracingListener(database);
        var execution = new JobExecutionEvent("host", "192.0.2.9", task, "java_job", ExecutionSource.NORMAL_TRIGGER, 0);
        listener.listen(execution);
        listener.listen(execution.executionSuccess());
        listener.listen(new JobStatusTraceEvent("java_job", task, "192.0.2.9", Source.LITE_EXECUTOR, "READY", "[0]", State.TASK_RUNNING, "text"));
    }

    /** As the storage itself reads them, which is not public. */
    private static Object states(final DataSource database, final String task) throws Exception {
        var read = RDBJobEventStorage.class.getDeclaredMethod("getJobStatusTraceEvents", String.class);
        read.setAccessible(true);
        return read.invoke(RDBJobEventStorage.getInstance(database), task);
    }

    private static List<Map<String, Object>> executions(final DataSource database, final String task) throws SQLException {
        try (Connection connection = database.getConnection(); PreparedStatement statement = connection.prepareStatement(EXECUTIONS)) {
            statement.setString(1, task);
            List<Map<String, Object>> result = new ArrayList<>();
            ResultSet rows = statement.executeQuery();
            while (rows.next()) {
                Map<String, Object> row = new LinkedHashMap<>();
                for (int column = 1; column <= rows.getMetaData().getColumnCount(); column++) {
                    row.put(rows.getMetaData().getColumnLabel(column), rows.getObject(column));
                }
                result.add(row);
            }
            return result;
        }
    }
}
